// Why a host lacks a mechanism, and how to enable it: pure, from probes and settings.
import type { HostFacts } from '../sandbox/index.js'

import { unmaskFix } from './container.js'
import type { HostSettings } from './host-settings.js'
import { namespacesCause, olderThan } from './namespaces-cause.js'

export interface Finding {
  readonly what: string
  readonly because: string
  readonly fix: string
}

export type ProbedHost = Pick<
  HostFacts,
  'launcher' | 'namespaces' | 'ownProc' | 'landlock' | 'mounts' | 'listener' | 'cgroup'
>

export const diagnose = (host: ProbedHost, settings: HostSettings): readonly Finding[] => {
  const { namespaces, ownProc, landlock, listener, cgroup, launcher } = host
  const isInCell = isOuterCell(host, settings)
  return [
    ...(namespaces.held ? [] : [namespacesFinding(namespaces, launcher, isInCell, settings)]),
    ...(namespaces.held && !ownProc.held ? [procFinding(ownProc.problem, settings)] : []),
    ...landlockFindings(host, settings),
    ...(listener.held || !landlock.held ? [] : [listenerFinding(listener.problem, isInCell)]),
    ...(cgroup.held ? [] : [cgroupFinding(cgroup.problem, isInCell, settings)]),
    ...temporaryFindings(settings),
  ]
}

const temporaryFindings = ({ temporaryFolder, temporaryProblem }: HostSettings): readonly Finding[] =>
  temporaryProblem === undefined
    ? []
    : [
        {
          what: 'a temporary folder: the landlock form makes the private /tmp of each call in it',
          because: `no folder can be made in ${temporaryFolder} (${temporaryProblem})`,
          fix: 'set TMPDIR to a folder that you may write to, or make this one writable: chmod 1777, mount -o remount,rw',
        },
      ]

const NAMESPACES = 'namespaces: hidden file names, own process list, own network'

const namespacesFinding = (
  refusal: Extract<HostFacts['namespaces'], { readonly held: false }>,
  launcher: string,
  isInCell: boolean,
  settings: HostSettings,
): Finding => {
  const { because, fix } = namespacesCause(refusal, launcher, isInCell, settings)
  return { what: NAMESPACES, because: `${because} (${refusal.stage}: ${refusal.problem})`, fix }
}

const procFinding = (problem: string, settings: HostSettings): Finding => ({
  what: "a private /proc: the cell uses the host's and hides parts of it with Landlock",
  because:
    settings.maskedProc.length > 0
      ? `parts of /proc are masked here (${settings.maskedProc.slice(0, 3).join(', ')}), so that the kernel ` +
        'refuses a fresh one'
      : problem,
  fix: unmaskFix(settings.container),
})

/** The option that does without, where it works. */
const landlockFindings = (host: ProbedHost, settings: HostSettings): readonly Finding[] => {
  const findings = findingsOfLandlock(host, settings)
  return host.landlock.held || !host.mounts.held
    ? findings
    : findings.map((finding) => ({
        ...finding,
        fix:
          `${finding.fix}; or do without: cordon run --form mounts, sandbox: { form: 'mounts' } (SECURITY.md says ` +
          'what does not hold then)',
      }))
}

const WITHOUT_LANDLOCK =
  'Landlock: second barrier for files, the only one for programs; required by the forms that `auto` takes'

const findingsOfLandlock = ({ landlock }: ProbedHost, settings: HostSettings): readonly Finding[] => {
  if (!landlock.held) return [{ what: WITHOUT_LANDLOCK, ...landlockCause(landlock, settings) }]
  const missing = [
    ...(landlock.abi < 3 ? ['truncation (Linux 6.2)'] : []),
    ...(landlock.abi < 4 ? ['TCP ports (6.7)'] : []),
    ...(landlock.abi < 5 ? ['device commands (6.10)'] : []),
    ...(landlock.abi < 6 ? ['signals and abstract sockets (6.12)'] : []),
  ]
  if (missing.length === 0) return []
  return [
    {
      what: `Landlock version ${String(landlock.abi)} cannot enforce: ${missing.join(', ')}`,
      because: `Linux ${settings.kernel}`,
      fix: 'use a newer kernel; the table shows where other mechanisms enforce these',
    },
  ]
}

const landlockCause = (
  { stage, problem }: Extract<HostFacts['landlock'], { readonly held: false }>,
  { kernel, securityModules: modules, seccompMode }: HostSettings,
): Omit<Finding, 'what'> => {
  if (olderThan(kernel, 5, 13)) return { because: `Linux ${kernel} does not have it (5.13)`, fix: 'use a newer kernel' }
  if (modules?.includes('landlock') === false)
    return {
      because: `it is not among the active security modules (${modules.join(',')})`,
      fix: `boot with lsm=landlock,${modules.join(',')}`,
    }
  if (seccompMode === '2')
    return {
      because: `a seccomp filter refuses its calls (${problem})`,
      fix: 'use a container runtime of 2022 or later, whose default profile permits Landlock',
    }
  return {
    because: `${stage}: ${problem}`,
    fix: 'boot with landlock in the lsm= list; the kernel needs CONFIG_SECURITY_LANDLOCK',
  }
}

const listenerFinding = (problem: string, inside: boolean): Finding => ({
  what: 'a seccomp listener: limits.processes, --observe, and a list of refused connections',
  because: inside ? `another cell or a tracer around this process has a listener already (${problem})` : problem,
  fix: 'run outside of it; everything else works without, and hosts that the outer cell grants can be granted here',
})

const cgroupFinding = (problem: string, inside: boolean, { isRoot, container }: HostSettings): Finding => ({
  what: 'cgroups: limits of memory and processes enforced by the kernel, without delay',
  because: /busy/i.test(problem)
    ? `the kernel refuses to divide a cgroup that has processes ("no internal processes": ${problem})`
    : problem,
  fix: cgroupFix(problem, inside || container !== undefined, isRoot),
})

const cgroupFix = (problem: string, inside: boolean, isRoot: boolean): string => {
  if (inside)
    return 'nothing to do: Cordon polls to enforce limits; you can also set them on the container or the outer cell'
  if (/version/.test(problem))
    return 'boot with cgroups version 2 (systemd.unified_cgroup_hierarchy=1); without, Cordon polls to enforce limits'
  return isRoot
    ? 'start it with a cgroup of its own: systemd-run --pty -p Delegate=yes -p DelegateSubgroup=host ' +
        'COMMAND (systemd 254; the same two settings in a unit)'
    : 'start it where you may create cgroups: systemd-run --user --scope COMMAND'
}

/** A used listener, or no_new_privs and a filter: a cell looks like this from inside. So does a restricted pod. */
const isOuterCell = ({ listener }: ProbedHost, { seccompMode, noNewPrivileges, container }: HostSettings): boolean =>
  (!listener.held && /busy/i.test(listener.problem)) ||
  (seccompMode === '2' && noNewPrivileges && container === undefined)
