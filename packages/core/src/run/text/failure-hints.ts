// Hints for a command that failed, from its boundary and its words. Its output is not read. A hint states a fact about
// the boundary, and says "if" where it guesses.
import type { Stats } from 'node:fs'
import { basename } from 'node:path'

import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { escapeGlob, hostsNamedIn, isReadable, isWithinPath, isWritable, matches } from '../../policy/index.js'
import {
  MOST_ARGUMENTS,
  hasGrantsIn,
  isClient,
  isScript,
  listsFolder,
  lookAt,
  namesOwn,
  pathIn,
  startsClient,
} from '../../runtime/hints/index.js'
import { describeOwnFile, ownFileAt } from '../../runtime/own-files/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'
import { isKernelView } from '../../sandbox/index.js'
import type { SandboxProfile } from '../../sandbox/index.js'

import type { RunOrder } from '../request/run-request.js'
import { asWord } from '../../line/text/shell-word.js'
import { isTransfer, outputsOf, withoutMark } from './transfer-words.js'

/** Grants of own files are never suggested. */
type Command = Pick<RunOrder, 'argv' | 'cwd' | 'workspace' | 'home'> & { readonly ownFiles: readonly OwnFile[] }

/** `known` are other findings. With one of them, the weakest guesses are left out. */
export const hintsOnFailure = (
  command: Command,
  boundary: Boundary,
  profile: SandboxProfile,
  known: readonly string[],
): readonly string[] => {
  const hints = [
    ...hintsOnArguments(command, boundary)
      .filter(({ path }) => !known.some((line) => line.includes(path)))
      .map(({ hint }) => hint),
    ...hintOnGitConfiguration(command, boundary),
    ...hintOnClosedFolders(profile),
    ...hintOnSealed(command, boundary, profile, known),
    ...hintOnSingleFiles(profile),
    ...(known.length === 0 ? hintOnNetwork(command, profile) : []),
  ]
  if (listsFolder(command) || namesOwn(command)) return [...hints, ...hintOnFolder(command, boundary)]
  if (hints.length + known.length > 0) return hints
  return isScript(command) ? [] : hintOnFolder(command, boundary)
}

/** Only about the host: its files at the paths that the words name, and its network. */
export const hintsInContainer = (
  command: Command,
  boundary: Boundary,
  profile: SandboxProfile,
  known: readonly string[],
): readonly string[] => [
  ...hintsOnArguments(command, boundary)
    .filter(({ path }) => isWithinPath(path, command.home) || isWithinPath(path, command.workspace))
    .map(({ hint }) => hint),
  ...hintOnImageFolder(command, profile),
  ...(known.length === 0 ? hintOnNetwork(command, profile) : []),
]

/** A command that names files of its own folder looks for them in a folder of the image. */
const hintOnImageFolder = (command: Command, { cwd: inside }: SandboxProfile): readonly string[] => {
  const { cwd, workspace } = command
  if (inside === cwd || !namesOwn(command)) return []
  const word = cwd === workspace ? '.' : asWord(escapeGlob(cwd))
  return [
    `the working directory ${cwd} is not granted, so the command ran in ${inside} of the image: add --read ${word}, ` +
      `or --write ${word} to change it`,
  ]
}

/** Also for a success, because an empty folder may be mistaken for the real one. */
export const hintOnEmptyFolder = (command: Command, boundary: Boundary): readonly string[] =>
  listsFolder(command) && !hasGrantsIn(command.cwd, boundary) ? hintOnFolder(command, boundary) : []

/** Also for a success: curl sends nothing instead of a file that it cannot read. */
export const hintsOnUnsent = ({ argv, cwd, ownFiles }: Command, boundary: Boundary): readonly string[] =>
  isTransfer(argv)
    ? argv
        .slice(1, MOST_ARGUMENTS)
        .filter((word) => withoutMark(word) !== word)
        .flatMap((word) => pathIn(withoutMark(word), cwd) ?? [])
        .flatMap((path) => hintOnPath(path, boundary, ownFiles))
        .slice(0, MOST_HINTS)
    : []

const hintOnFolder = (command: Command, boundary: Boundary): readonly string[] => {
  const { cwd, workspace, ownFiles } = command
  const own = ownFileAt(cwd, 'read', ownFiles)
  if (own !== undefined) return [describeOwnFile(cwd, own, 'command')]
  const parts = hasGrantsIn(cwd, boundary)
  // After a grant of parts, only a command that lists the folder needs all of it.
  if (cwd === '/' || isReadable(boundary, cwd) || (parts && !listsFolder(command)) || isClient(command)) return []
  const word = cwd === workspace ? '.' : asWord(escapeGlob(cwd))
  return [
    `the working directory ${cwd} is not granted${parts ? ' as a whole' : ', so it is empty'}: add --read ` +
      `${word}, or --write ${word} to change it`,
  ]
}

/** The targets of `>` in a script. */
const redirectionsIn = (command: Command): readonly string[] =>
  isScript(command)
    ? Array.from(command.argv.join(' ').matchAll(/>>?\s*([^\s;|&<>()'"`]+)/g), ([, target = '']) => target)
    : []

/** Without it git has no name for commits and no settings, and does not say so. */
const hintOnGitConfiguration = ({ argv, home }: Command, boundary: Boundary): readonly string[] => {
  const file = lookAt(`${home}/.gitconfig` as AbsolutePath)
  if (file === undefined || !/(?:^|[\s/;&|])git\b/.test(argv.join(' '))) return []
  const lacking = [
    ...(boundary.environment.some(({ name }) => name === 'HOME') ? [] : ['--env HOME']),
    ...(isReadable(boundary, file.real) ? [] : [`--read ${asWord(escapeGlob(file.real))}`]),
  ]
  return lacking.length === 0
    ? []
    : [`git cannot read ${home}/.gitconfig, which has your name for commits; if needed, add ${lacking.join(' ')}`]
}

/** The landlock form refuses name lookups silently. */
const hintOnNetwork = (command: Command, { network }: SandboxProfile): readonly string[] => {
  const hosts = hostsNamedIn(command.argv)
  if (network !== 'none' || (hosts.length === 0 && !startsClient(command))) return []
  return [
    'the network is not granted, including name lookups: add ' +
      (hosts.length === 0 ? ['HOST'] : hosts).map((host) => `--net ${asWord(host)}`).join(' '),
  ]
}

const MOST_HINTS = 5

/** For a command that needs only what its words name, such as a server. */
export const hintsOnNamed = (command: Command, boundary: Boundary): readonly string[] =>
  namedHints(command, boundary, false).map(({ hint }) => hint)

const hintsOnArguments = (command: Command, boundary: Boundary): readonly NamedHint[] => {
  const { argv, cwd } = command
  // Network clients rarely need files of their folder.
  const isTold = !isTransfer(argv) && cwd !== '/' && !isReadable(boundary, cwd) && !hasGrantsIn(cwd, boundary)
  return namedHints(command, boundary, isTold)
}

interface NamedHint {
  readonly path: AbsolutePath
  readonly hint: string
}

/** `isTold`: another hint is about the working folder as a whole. */
const namedHints = ({ argv, cwd, ownFiles }: Command, boundary: Boundary, isTold: boolean): readonly NamedHint[] => {
  const made = outputsOf(argv)
  const named = argv
    .slice(1, MOST_ARGUMENTS)
    .filter((word) => !made.includes(word))
    .flatMap((word) => pathIn(isTransfer(argv) ? withoutMark(word) : word, cwd) ?? [])
  const others = [...new Set(named)].filter((path) => path !== cwd && !(isTold && isWithinPath(path, cwd)))
  return others
    .flatMap((path) => hintOnPath(path, boundary, ownFiles).map((hint) => ({ path, hint })))
    .slice(0, MOST_HINTS)
}

const hintOnPath = (path: AbsolutePath, boundary: Boundary, ownFiles: readonly OwnFile[]): readonly string[] => {
  const found = lookAt(path)
  if (found === undefined || path === '/' || isKernelView(path)) return []
  const own = ownFileAt(found.real, 'read', ownFiles)
  if (own !== undefined) return [describeOwnFile(path, own, 'command')]
  const carved = boundary.read.find(
    (pattern) =>
      pattern.negated &&
      isWithinPath(found.real, pattern.base) &&
      (pattern.kind !== 'pattern' || matches(pattern, found.real)),
  )
  if (carved !== undefined) return [`${path} is withheld (${carved.text}): a policy carves it out`]
  if (!isReadable(boundary, found.real))
    return [`${path} exists, but is not granted: add --read ${asWord(escapeGlob(found.real))}`]
  if (isReadableFor(found.status)) return []
  return [
    `${path} is granted, but its file permissions refuse it (mode ` +
      `${(found.status.mode & 0o7777).toString(8)}, user ${String(found.status.uid)}); a cell has the rights ` +
      'of its user, not those of root',
  ]
}

/** The decision of the kernel without capabilities. */
const isReadableFor = ({ mode, uid, gid }: Stats): boolean => {
  if (uid === process.getuid?.()) return (mode & 0o400) !== 0
  return [process.getgid?.(), ...(process.getgroups?.() ?? [])].includes(gid)
    ? (mode & 0o040) !== 0
    : (mode & 0o004) !== 0
}

/** Programs whose arguments name new files. */
const MAKING: ReadonlySet<string> = new Set(['touch', 'mkdir', 'cp', 'mv', 'tee', 'ln', 'install', 'mkfifo'])

/** Private in the namespaces form: a folder below it that is not granted is empty, and disappears with the cell. */
const TEMPORARY = '/tmp' as AbsolutePath

/** For a success: written files that disappeared with the cell, as far as the words name them. */
export const hintOnThrowaway = (command: Command, boundary: Boundary, { form }: SandboxProfile): readonly string[] => {
  const { argv, cwd, workspace } = command
  if (form === 'landlock' || !isWithinPath(cwd, TEMPORARY) || isReadable(boundary, cwd) || isWritable(boundary, cwd))
    return []
  const words = [
    ...(MAKING.has(basename(argv[0] ?? '')) ? argv.slice(1, MOST_ARGUMENTS) : outputsOf(argv)),
    ...redirectionsIn(command).filter((word) => !word.includes('$')),
  ]
  const isLost = words
    .flatMap((word) => pathIn(word, cwd) ?? [])
    .some((path) => path !== cwd && isWithinPath(path, cwd) && !isReadable(boundary, path))
  return isLost
    ? [
        `the working directory ${cwd} is not granted, so files that the command wrote there disappeared with ` +
          `the cell; to keep them, add --write ${cwd === workspace ? '.' : asWord(escapeGlob(cwd))}`,
      ]
    : []
}

const hintOnClosedFolders = ({ closed_folders: closed, sealed }: SandboxProfile): readonly string[] => {
  if (closed.length === 0) return []
  const why = sealed.length === 0 ? 'the policy carves out parts of it' : `it holds protected names (${listOf(sealed)})`
  return [
    `nothing can be created, renamed or removed directly in ${listOf(closed)}: ${why}, and the landlock form ` +
      'cannot protect them otherwise; work in a folder below it, or use the namespaces form (see: cordon doctor)',
  ]
}

/** Programs that change or remove whole trees, with protected names in them. */
const SWEEPING: ReadonlySet<string> = new Set(['rm', 'mv', 'rmdir', 'cp', 'rsync', 'chmod', 'chown', 'tar', 'unzip'])

const hintOnSealed = (
  { argv, cwd, ownFiles }: Command,
  { write }: Boundary,
  { form, sealed }: SandboxProfile,
  known: readonly string[],
): readonly string[] => {
  const text = argv.join(' ')
  const swept = SWEEPING.has(basename(argv[0] ?? '')) ? argv.slice(1).flatMap((word) => pathIn(word, cwd) ?? []) : []
  // The namespaces form reports names that could not be replaced. Other ways of writing are guessed.
  const isTold = (path: string) => known.some((line) => line.includes(path))
  const isSwept = (path: string) => swept.some((folder) => isWithinPath(path as AbsolutePath, folder))
  const untold = sealed
    .filter((path) => !isTold(path))
    .map((path) => ({ path, own: ownFileAt(path, 'write', ownFiles) }))
  const meant = untold.flatMap(({ path, own }) =>
    own === undefined &&
    ((form === 'landlock' ? isMeant(path, text) : text.includes(basename(path)) || isOfPackage(path, text)) ||
      isSwept(path))
      ? [path]
      : [],
  )
  const carved = meant.filter((path) =>
    write.some((pattern) => pattern.negated && matches(pattern, path as AbsolutePath)),
  )
  const others = meant.filter((path) => !carved.includes(path))
  const [first] = others
  return [
    ...untold
      .flatMap(({ path, own }) =>
        own !== undefined && (isSwept(path) || text.includes(wordFor(path)))
          ? [describeOwnFile(path, own, 'command')]
          : [],
      )
      .slice(0, MOST_HINTS),
    ...(carved.length === 0 ? [] : [`read-only in the cell: ${listOf(carved)}; a policy carves them out`]),
    ...(first === undefined
      ? []
      : [
          `protected, so read-only in the cell: ${listOf(others)}; to let the command change one, name it ` +
            `exactly: --write ${asWord(escapeGlob(first))}`,
        ]),
  ]
}

/** Every own folder is named `cordon`, so its parent is added. */
const wordFor = (path: string): string =>
  path
    .split('/')
    .slice(basename(path) === 'cordon' ? -2 : -1)
    .join('/')

const isMeant = (path: string, text: string): boolean => {
  const name = basename(path)
  return text.includes(name) || (path.includes('/.git/') && /\bgit\b/.test(text)) || isOfPackage(path, text)
}

/** Package managers write it in place, which is not reported. */
const isOfPackage = (path: string, text: string): boolean =>
  basename(path) === 'package.json' && /\b(?:npm|npx|pnpm|yarn|bun)\b/.test(text)

/** A file that is granted alone is a mount point, so no other file can be renamed onto it. */
const hintOnSingleFiles = ({ write_roots: roots }: SandboxProfile): readonly string[] => {
  const isInOther = (path: string) =>
    roots.some((root) => root !== path && isWithinPath(path as AbsolutePath, root as AbsolutePath))
  const single = roots.filter((path) => !isInOther(path) && lookAt(path as AbsolutePath)?.status.isFile() === true)
  return single.length === 0
    ? []
    : [
        `granted as a single file: ${listOf(single)}; it can be changed in place, but not replaced or ` +
          'removed (EBUSY, EACCES); to allow that, grant its folder',
      ]
}

const MOST_NAMED = 3

const listOf = (paths: readonly string[]): string => {
  const more = paths.length - MOST_NAMED
  return more > 0 ? `${paths.slice(0, MOST_NAMED).join(', ')} and ${String(more)} more` : paths.join(', ')
}
