// Why the first word of a command names no program: guessed from the word and from nearby files.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

import { CordonError, fail } from '../../errors/index.js'
import { nearestKey } from '../../policy/index.js'

import { asWord } from '../../line/text/shell-word.js'

export interface Lookup {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly searchPath: string
}

/** Adds the likely cause to a "not found". Other errors are returned unchanged. */
export const withLookupAdvice = (error: unknown, lookup: Lookup): unknown => {
  const {
    argv: [word = ''],
  } = lookup
  if (!(error instanceof CordonError) || error.code !== 'program-not-found' || error.params['program'] !== word)
    return error
  const closed = word.includes('/') ? undefined : inPath(word, lookup.searchPath)
  // As in a shell: found, but not executable.
  if (closed !== undefined)
    return fail(
      'program-not-executable',
      { program: word, problem: `${closed} has no execute permission`, fix: `chmod +x ${asWord(closed)}` },
      error,
    )
  return fail('program-not-found', { program: word, fix: likelyCause(lookup, word) ?? error.fix ?? '' }, error)
}

const likelyCause = ({ argv, cwd, searchPath }: Lookup, word: string): string | undefined => {
  const command = argv.join(' ')
  if (/[|&;<>$`*?(){}]|\bif\b|\bfor\b/.test(word) && /\s/.test(word))
    return `this is a shell command line, and no shell reads it; use: cordon run -- sh -c ${asWord(command)}`
  if (/\s/.test(word))
    return (
      `this is one word: write separate words (cordon run -- ${command}), or use a shell (sh -c ` +
      `${asWord(command)})`
    )
  if (/^\w+=/.test(word))
    return (
      `set a variable with an option: cordon run --env ${asWord(word)} -- ` +
      (argv.slice(1).map(asWord).join(' ') || 'COMMAND')
    )
  if (word.startsWith('-')) return 'put options of cordon before --, and the command after it'
  if (SHELL_WORDS.has(word)) return `${word} is a shell keyword, not a program; use: sh -c ${asWord(command)}`
  if (word.includes('/')) return undefined
  if (existsSync(resolve(cwd, word))) return `it is not in PATH, but in this folder; write ./${word}`
  // The first letter must match, because some program is always near. It is rarely mistyped.
  const near =
    word.length < SHORTEST_GUESS
      ? undefined
      : nearestKey(
          word,
          programsIn(searchPath).filter((name) => name[0] === word[0]),
        )
  return near === undefined ? undefined : `did you mean ${near}? Looked in ${searchPath}`
}

const SHELL_WORDS: ReadonlySet<string> = new Set(
  (
    'cd export source . alias unalias ulimit umask set unset read type eval exec exit trap wait jobs fg bg history ' +
    'declare local pushd popd shopt if for while until case function return shift command builtin'
  ).split(' '),
)

const SHORTEST_GUESS = 4

const inPath = (name: string, searchPath: string): string | undefined =>
  searchPath
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isFile)

/** No, if its folder is closed to this user. */
const isFile = (path: string): boolean => {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

const programsIn = (searchPath: string): readonly string[] =>
  [...new Set(searchPath.split(delimiter))].flatMap((folder) => {
    try {
      return folder.startsWith('/') ? readdirSync(folder) : []
    } catch {
      return []
    }
  })
