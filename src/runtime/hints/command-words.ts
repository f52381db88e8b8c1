// What the words of a command say about what it wants: roughly, for hints, and never for judging.
import { realpathSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, resolve } from 'node:path'

import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

export interface CommandAt {
  readonly argv: readonly string[]
  readonly cwd: AbsolutePath
}

export const MOST_ARGUMENTS = 200

/** Programs that look at the working directory, and in an empty one are content with that. */
const SEARCHING: ReadonlySet<string> = new Set(['find', 'fd', 'rg'])
const LISTING: ReadonlySet<string> = new Set(['ls', 'dir', 'vdir', 'tree', 'du', ...SEARCHING])

export const listsFolder = ({ argv, cwd }: CommandAt): boolean => {
  const program = basename(argv[0] ?? '')
  const isPattern = (word: string) => SEARCHING.has(program) && !word.includes('/')
  return (
    LISTING.has(program) &&
    argv.slice(1).every((word) => word.startsWith('-') || isPattern(word) || resolve(cwd, word) === cwd)
  )
}

const CLIENTS: ReadonlySet<string> = new Set([
  'curl',
  'wget',
  'ssh',
  'scp',
  'sftp',
  'ftp',
  'ping',
  'dig',
  'nslookup',
  'host',
  'telnet',
  'nc',
])

/** Programs that are there for the network; most of them need nothing of the folder that they are started in. */
export const isClient = ({ argv }: CommandAt): boolean => CLIENTS.has(basename(argv[0] ?? ''))

/** Also where a script starts one. */
export const startsClient = (command: CommandAt): boolean =>
  isClient(command) || (isScript(command) && wordsOf(command).some((word) => CLIENTS.has(word)))

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh'])

export const isScript = ({ argv }: CommandAt): boolean => SHELLS.has(basename(argv[0] ?? '')) && argv.includes('-c')

/** The words of a command, those of a script taken apart. */
const wordsOf = (command: CommandAt): readonly string[] =>
  command.argv.slice(1, MOST_ARGUMENTS).flatMap((word) => (isScript(command) ? word.split(/[\s;|&<>()'"`]+/) : [word]))

/** Programs that work on the folder they are started in, without its being named. */
const AT_HOME: ReadonlySet<string> = new Set([
  ...LISTING,
  'make',
  'npm',
  'npx',
  'pnpm',
  'yarn',
  'git',
  'cargo',
  'go',
  'pytest',
  'tsc',
])

/**
 * Whether it says that it wants something of the working directory: a name that is there, or in a script such a
 * program.
 */
export const namesOwn = (command: CommandAt): boolean =>
  wordsOf(command).some((word) => (isScript(command) && AT_HOME.has(word)) || namesPart(word, command.cwd))

/** Whether a word names something that lies in a folder. */
export const namesPart = (word: string, folder: AbsolutePath): boolean => {
  const path = pathIn(word, folder)
  return path !== undefined && path !== folder && isWithinPath(path, folder) && lookAt(path) !== undefined
}

/** `data/words`, `--file=data/words`. */
export const pathIn = (word: string, cwd: string): AbsolutePath | undefined => {
  const text = word.startsWith('-') ? /^--?[\w-]+=(.+)$/s.exec(word)?.[1] : word
  return text === undefined || text === '' || text.includes('\0') ? undefined : (resolve(cwd, text) as AbsolutePath)
}

export const lookAt = (path: AbsolutePath): { readonly real: AbsolutePath; readonly status: Stats } | undefined => {
  try {
    const real = realpathSync(path) as AbsolutePath
    return { real, status: statSync(real) }
  } catch {
    return undefined
  }
}

export const hasGrantsIn = (folder: AbsolutePath, { read, write }: Boundary): boolean =>
  [...read, ...write].some(({ negated, base }) => !negated && isWithinPath(base, folder))
