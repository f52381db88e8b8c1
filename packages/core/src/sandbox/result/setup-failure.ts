import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import type { ErrorEvent } from './events.js'

const ENOENT = 2
const ENOEXEC = 8
const EACCES = 13

export const WAYS_OUT: Readonly<Record<string, string>> = {
  'user-namespace':
    'run `cordon doctor`: it says how to permit user namespaces here, and which form of the cell holds without',
  'mount-namespace': 'run `cordon doctor`: user namespaces without capabilities (AppArmor) cannot mount',
  'proc': 'run `cordon doctor`: a container that masks parts of /proc does not allow a fresh one',
  'root': 'check that the path still exists and was not replaced by a symbolic link while the call began',
  'cwd': 'grant the working directory, or choose another with --cwd',
  'landlock':
    'run `cordon doctor`; Landlock needs Linux 5.13 with landlock in the lsm= list; --form mounts does without',
  'seccomp-listener':
    'run `cordon doctor`; inside another cell or tracer the listener is taken, which the probe should have found',
  'nesting':
    'run `cordon doctor`; one outer cell serves 64 inner ones at a time: wait until some have ended, or ' +
    'grant fewer hosts',
  'cgroup':
    'run `cordon doctor`: it says what this host lets Cordon divide; what was possible when the sandbox was ' +
    'opened is not any more',
  'scratch': 'set TMPDIR to a folder that you may write to, or make its folder writable and free some space',
  'limits': 'choose limits that are not above those of this process (ulimit -a)',
}

/** The error for a failed setup: its stage, and a fix. It is never mistaken for the tool's own exit. */
export const setupFailure = ({ stage, errno, error, detail }: ErrorEvent): CordonError => {
  if (stage === 'exec') return executionFailure(errno, error, detail)
  // Both sides are released together: another version made a plan that the launcher does not understand.
  if (stage === 'plan') return fail('launcher-mismatch', { problem: detail })
  // The detail names the call or the path that failed, or says what happened if no call did.
  const problem = (errno === 0 ? [error, detail] : [detail, error]).filter((part) => part !== '').join(': ')
  return fail('setup-failed', { stage, problem, fix: WAYS_OUT[stage] ?? 'run `cordon doctor`' })
}

const executionFailure = (errno: number, error: string, program: string): CordonError => {
  const grant =
    'grant what it needs to start: its folder with --read, or --preset toolchains for nvm, pyenv, cargo and the like'
  const refuse = (problem: string, fix: string) => fail('program-not-executable', { program, problem, fix })
  switch (errno) {
    case ENOENT:
      return fail('program-not-found', { program: `${program}, or what it is loaded by`, fix: grant })
    case ENOEXEC:
      return refuse(
        `${error}: neither a program of this machine nor a script with a #! line`,
        `run a script by its interpreter (sh ${program}), or give it a first line such as #!/bin/sh`,
      )
    case EACCES:
      return refuse(
        error,
        'make it executable (chmod +x), or allow it with --exec; its file system may be mounted noexec',
      )
    default:
      return refuse(error, grant)
  }
}
