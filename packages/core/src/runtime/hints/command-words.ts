// Guesses from the words of a command what it wants. Only for hints, never for decisions.
import type { Stats } from 'node:fs'
import { basename, resolve } from 'node:path'

import { realPathOf, statusAt } from '../../platform/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

export interface CommandAt {
  readonly argv: readonly string[]
  readonly cwd: AbsolutePath
}

export const MOST_ARGUMENTS = 200

/** Programs that do not fail in an empty working directory. */
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

/** Network programs. Most of them need no files of the working directory. */
export const isClient = ({ argv }: CommandAt): boolean => CLIENTS.has(basename(argv[0] ?? ''))

/** Also true for a script that starts one. */
export const startsClient = (command: CommandAt): boolean =>
  isClient(command) || (isScript(command) && wordsOf(command).some((word) => CLIENTS.has(word)))

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh'])

export const isScript = ({ argv }: CommandAt): boolean => SHELLS.has(basename(argv[0] ?? '')) && argv.includes('-c')

/** The words of a command. A script is split into words. */
const wordsOf = (command: CommandAt): readonly string[] =>
  command.argv.slice(1, MOST_ARGUMENTS).flatMap((word) => (isScript(command) ? word.split(/[\s;|&<>()'"`]+/) : [word]))

/** Programs that use the working directory without naming it. */
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

/** Whether it uses the working directory: it names a file there, or its script starts such a program. */
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
  const real = realPathOf(path) as AbsolutePath | undefined
  const status = real === undefined ? undefined : statusAt(real)
  return real === undefined || status === undefined ? undefined : { real, status }
}

export const hasGrantsIn = (folder: AbsolutePath, { read, write }: Boundary): boolean =>
  [...read, ...write].some(({ negated, base }) => !negated && isWithinPath(base, folder))
