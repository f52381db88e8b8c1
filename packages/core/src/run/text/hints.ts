// Hints for a command that failed: facts about its boundary, and about existing paths that its words name.
import { join } from 'node:path'

import { shellWord } from '../../platform/index.js'
import { escapeGlob, isReadable, isWithinPath, matches } from '../../policy/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { isUngranted, namedPaths } from '../../runtime/hints/index.js'
import type { NamedPath } from '../../runtime/hints/index.js'
import { describeOwnFile, ownFileAt } from '../../runtime/own-files/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'
import type { SandboxProfile } from '../../sandbox/index.js'

import type { Arguments } from '../../line/arguments.js'
import type { RunOrder } from '../request/run-request.js'

/** Grants of own files are never suggested. */
type Command = Pick<RunOrder, 'argv' | 'cwd' | 'workspace' | 'home'> & { readonly ownFiles: readonly OwnFile[] }

/** `known` are other findings. The working directory is named only without any. */
export const hintsOnFailure = (
  command: Command,
  boundary: Boundary,
  profile: SandboxProfile,
  known: readonly string[],
): readonly string[] => {
  const { home, workspace } = command
  // In a container other paths may be those of the image.
  const isOfHost = (path: AbsolutePath): boolean =>
    profile.backend !== 'container' || isWithinPath(path, home) || isWithinPath(path, workspace)
  const hints = [
    ...hintsOnNamed(command, boundary, (path) => isOfHost(path) && !known.some((line) => line.includes(path))),
    ...hintOnClosedFolders(profile),
    ...hintOnSingleFiles(profile),
  ]
  return hints.length + known.length > 0 ? hints : hintOnFolder(command, boundary, profile)
}

const hintOnFolder = (
  { cwd, workspace, ownFiles }: Command,
  boundary: Boundary,
  { cwd: inside }: SandboxProfile,
): readonly string[] => {
  const own = ownFileAt(cwd, 'read', ownFiles)
  if (own !== undefined) return [describeOwnFile(cwd, own, 'command')]
  if (!isUngranted(cwd, boundary)) return []
  const place = inside === cwd ? '' : `, so the command ran in ${inside} of the image`
  const word = cwd === workspace ? '.' : shellWord(escapeGlob(cwd))
  return [`the working directory ${cwd} is not granted${place}: add --read ${word}, or --write ${word} to change it`]
}

const MOST_HINTS = 5

const hintsOnNamed = (
  { argv, cwd, ownFiles }: Command,
  boundary: Boundary,
  isMeant: (path: AbsolutePath) => boolean,
): readonly string[] =>
  namedPaths(argv.slice(1), cwd)
    .filter(({ path }) => path !== cwd && isMeant(path))
    .flatMap((named) => hintOnPath(named, boundary, ownFiles))
    .slice(0, MOST_HINTS)

const hintOnPath = (
  { path, real, status }: NamedPath,
  boundary: Boundary,
  ownFiles: readonly OwnFile[],
): readonly string[] => {
  const own = ownFileAt(real, 'read', ownFiles)
  if (own !== undefined) return [describeOwnFile(path, own, 'command')]
  const carved = boundary.read.find(
    (pattern) =>
      pattern.negated && isWithinPath(real, pattern.base) && (pattern.kind !== 'pattern' || matches(pattern, real)),
  )
  if (carved !== undefined) return [`${path} is withheld (${carved.text}): a policy carves it out`]
  if (!isReadable(boundary, real))
    return [`${path} exists, but is not granted: add --read ${shellWord(escapeGlob(real))}`]
  if (isReadableFor(status)) return []
  return [
    `${path} is granted, but its file permissions refuse it (mode ` +
      `${(status.mode & 0o7777).toString(8)}, user ${String(status.uid)}); a cell has the rights ` +
      'of its user, not those of root',
  ]
}

/** The decision of the kernel without capabilities. */
const isReadableFor = ({ mode, uid, gid }: NamedPath['status']): boolean => {
  if (uid === process.getuid?.()) return (mode & 0o400) !== 0
  return [process.getgid?.(), ...(process.getgroups?.() ?? [])].includes(gid)
    ? (mode & 0o040) !== 0
    : (mode & 0o004) !== 0
}

const hintOnClosedFolders = ({ closed_folders: closed, sealed }: SandboxProfile): readonly string[] => {
  if (closed.length === 0) return []
  const why = sealed.length === 0 ? 'the policy carves out parts of it' : `it holds protected names (${listOf(sealed)})`
  return [
    `nothing can be created, renamed or removed directly in ${listOf(closed)}: ${why}, and the landlock form ` +
      'cannot protect them otherwise; work in a folder below it, or use the namespaces form (see: cordon doctor)',
  ]
}

/** A file that is granted alone is a mount point, so no other file can be renamed onto it. */
const hintOnSingleFiles = ({ write_roots: roots }: SandboxProfile): readonly string[] => {
  const single = namedPaths(roots, '/').filter(
    ({ path, status }) =>
      status.isFile() && !roots.some((root) => root !== path && isWithinPath(path, root as AbsolutePath)),
  )
  return single.length === 0
    ? []
    : [
        `granted as a single file: ${listOf(single.map(({ path }) => path))}; it can be changed in place, but not ` +
          'replaced or removed (EBUSY, EACCES); to allow that, grant its folder',
      ]
}

const MOST_NAMED = 3

const listOf = (paths: readonly string[]): string => {
  const more = paths.length - MOST_NAMED
  return more > 0 ? `${paths.slice(0, MOST_NAMED).join(', ')} and ${String(more)} more` : paths.join(', ')
}

/** One line for all hints of a run that a hook started. */
export const adviceToHooked = (
  hints: readonly string[],
  { values }: Pick<Arguments, 'values'>,
  configFolder: string,
): readonly string[] => {
  const agent = values.get('agent')?.[0]
  if (agent === undefined || !hints.some((hint) => hint.includes('add --'))) return []
  // It counts only if the hook names no other policy.
  const isDefault = (values.get('policy') ?? []).every((name) => name.endsWith(':agent'))
  const file = isDefault ? `, or grant it in ${shellWord(join(configFolder, 'policies', 'agent.yaml'))}` : ''
  return [`the user can add these options to the hook: cordon hook install ${agent} OPTION…${file}; see docs/hooks.md`]
}
