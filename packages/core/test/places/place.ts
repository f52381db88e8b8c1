// Places: ways to start a program where something is refused that this machine permits.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { CORDON, REPOSITORY } from '../../../../test/repository.js'
import { lastingFolder } from '../attacks/playground.js'

export const CHECKOUT = REPOSITORY
export const PROGRAMS = fileURLToPath(new URL('programs/', import.meta.url))

export interface Place {
  readonly title: string
  /** The command that runs another one there. */
  readonly enter: (argv: readonly string[]) => readonly string[]
}

export const IS_ROOT = process.getuid?.() === 0

/** What the program `imitate` can refuse, see there. */
export type Refusal =
  | 'no-user-namespaces'
  | 'powerless-user-namespaces'
  | 'no-mounts'
  | 'no-pidfd-getfd'
  | 'no-process-vm'
  | 'no-openat2'
  | 'no-listener'
  | 'no-landlock'
  | 'no-seccomp'
  | 'no-inotify'
  | 'masked-proc'
  | 'read-only-proc'
  | 'container-capabilities'

export const imitated = (title: string, refusals: readonly Refusal[]): Place => ({
  title,
  enter: (argv) => [compiled('imitate'), ...refusals, '--', ...argv],
})

export const olderKernel = (title: string, words: readonly (`landlock=${number}` | 'no-children-files')[]): Place => ({
  title,
  enter: (argv) => [compiled('older-kernel'), ...words, '--', ...argv],
})

/** One place in another, the outer one first. */
export const within = (...places: readonly [Place, ...Place[]]): Place => ({
  title: places.map(({ title }) => title).join(', '),
  enter: (argv) => places.reduceRight<readonly string[]>((inner, { enter }) => enter(inner), argv),
})

export const plainHost: Place = { title: 'a plain host', enter: (argv) => argv }

// What Docker's default profile refuses to a container without further capabilities, and what it masks.
export const dockerLike = imitated("a profile like Docker's default", [
  'masked-proc',
  'container-capabilities',
  'no-user-namespaces',
  'no-mounts',
  'no-pidfd-getfd',
])

// Ubuntu's kernel.apparmor_restrict_unprivileged_userns: the namespace can be made and has no rights.
export const powerlessNamespaces = imitated('user namespaces without capabilities', ['powerless-user-namespaces'])

const folder = lastingFolder()
// Ordinary users enter places, too.
chmodSync(folder, 0o755)

const compiled = (name: string): string => {
  const program = join(folder, name)
  if (!existsSync(program))
    execFileSync(
      'cc',
      ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-static', '-o', program, join(PROGRAMS, `${name}.c`)],
      { stdio: 'inherit' },
    )
  return program
}

/** Why a place cannot be entered here, or undefined. */
export const obstacleTo = ({ enter }: Place): string | undefined => {
  const [program = '', ...args] = enter(['/bin/true'])
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 200_000 })
  return status === 0 ? undefined : (error?.message ?? (stderr.trim() || `it ended with ${String(status)}`))
}

/** Inside a cell that this host's own command line makes, with these options. */
export const insideCell = (form: 'namespaces' | 'landlock', options: readonly string[]): Place => ({
  title: `a cell of the form ${form}`,
  enter: (argv) => [process.execPath, CORDON, 'run', '--form', form, '--read', CHECKOUT, ...options, '--', ...argv],
})
