// Reads what a call would execute: a command line, or words. It also finds commands that are texts among the words of
// another command.
import {
  EVALUATORS,
  LINE_RUNNERS,
  RUN_VARIABLES,
  SHELLS,
  TEXT_RUNNERS,
  assignsAlias,
  isLauncher,
  launchesBehind,
  renamesCommands,
} from './launchers.js'
import { splitLine } from './shell-line.js'
import type { CommandPart } from './line-reader.js'
import { substitutionsIn } from './shell-quoting.js'
import type { Word } from './shell-words.js'

export interface CommandReading {
  /** One command of plain words. An allow matches nothing else. */
  readonly isPlain: boolean
  /** Every command, also inside of substitutions and of `sh -c '…'`. */
  readonly parts: readonly CommandPart[]
  /** Words outside of commands, such as targets of redirections and lists of loops. */
  readonly mentioned: readonly Word[]
}

const MAX_NESTING = 6
const MAX_PARTS = 256
const MAX_LENGTH = 256 * 1024

/** Represents commands that were not read. They may be anything, so every denial fits. */
const UNSEEN: CommandPart = { words: [{ text: '', isKnown: false }], startsAnywhere: true }

/** Reads a command line as a shell would. */
export const readCommand = (line: string): CommandReading => {
  const found = newFound()
  return finish(found, readInto(line, found, 0, 'line'))
}

/** Reads words that are executed as they are, without a shell. */
export const readArgv = (argv: readonly string[]): CommandReading => {
  const words = argv.map((text): Word => ({ text, isKnown: true }))
  const found = newFound()
  return finish(found, words.length > 0 && readPart({ words, startsAnywhere: false }, found, 0))
}

const finish = (found: Found, isPlain: boolean): CommandReading => {
  readLiterals(found)
  return { isPlain, parts: found.parts, mentioned: found.mentioned }
}

interface Found {
  readonly parts: CommandPart[]
  readonly mentioned: Word[]
  /** Texts with a quoted substitution, which runs only if something expands the text once more. */
  readonly literals: string[]
  evaluates: boolean
}

const newFound = (): Found => ({ parts: [], mentioned: [], literals: [], evaluates: false })

/** Whether the line is one plain command. `cut`: the line was cut out of another, so it must be whole. */
const readInto = (line: string, found: Found, depth: number, origin: 'line' | 'cut'): boolean => {
  const { parts, mentioned } = found
  if (depth > MAX_NESTING || parts.length >= MAX_PARTS || line.length > MAX_LENGTH) {
    addUnseen(parts)
    return false
  }
  const split = splitLine(line)
  let isPlain = split.isPlain
  if (split.isUnreadable || (origin === 'cut' && split.endsInComment)) addUnseen(parts)
  if (split.evaluates) found.evaluates = true
  mentioned.push(...split.mentioned)
  noteLiterals(split.mentioned, found)
  for (const assigned of split.mentioned) readVariable(assigned, found, depth)
  for (const part of split.parts) {
    if (parts.length >= MAX_PARTS) {
      addUnseen(parts)
      return false
    }
    if (!readPart(part, found, depth)) isPlain = false
  }
  for (const inner of split.inner) readInto(inner, found, depth + 1, 'cut')
  return isPlain
}

/** Whether the command is plain, without further commands in its words. */
const readPart = (part: CommandPart, found: Found, depth: number): boolean => {
  const { words, input = [] } = part
  const names = words.map(({ text }) => programName(text))
  const startsAnywhere = part.startsAnywhere || startsLater(names)
  found.parts.push({ words, startsAnywhere })
  const evaluating = (startsAnywhere ? names : names.slice(0, 1)).flatMap((name) => EVALUATORS.get(name) ?? [])
  if (evaluating.some((option) => words.some(({ text, isKnown }) => !isKnown || text.startsWith(option))))
    found.evaluates = true
  noteLiterals(words, found)
  noteLiterals(input, found)
  const { lines, isUnseen } = linesWithin(part, names)
  if (isUnseen || names.some((name) => renamesCommands(name, words))) addUnseen(found.parts)
  for (const line of lines) readInto(line, found, depth + 1, 'line')
  const variables = words.filter((word) => readVariable(word, found, depth))
  return lines.length === 0 && !isUnseen && variables.length === 0
}

const addUnseen = (parts: CommandPart[]): void => {
  if (!parts.includes(UNSEEN)) parts.push(UNSEEN)
}

const HAS_SUBSTITUTION = /\$\(|`|\$\{/

const noteLiterals = (words: readonly Word[], { literals }: Found): void => {
  for (const { text } of words) if (HAS_SUBSTITUTION.test(text)) literals.push(text)
}

/**
 * `let 'a[$(rm x)]'` runs `rm`, because arithmetic and names of arrays are expanded once more. The text may get there
 * through a variable, so every quoted substitution of such a line counts.
 */
const readLiterals = (found: Found): void => {
  if (!found.evaluates) return
  for (const text of new Set(found.literals)) {
    const { lines, isReadable } = substitutionsIn(text, 'are-letters')
    if (!isReadable) addUnseen(found.parts)
    for (const line of lines) readInto(line, found, MAX_NESTING - 1, 'cut')
  }
}

const ASSIGNED = /^(?<name>\w+|BASH_FUNC_[^=]*)\+?=(?<value>[^]*)$/

/** Whether the word sets a variable that is run: `BASH_ENV='$(rm x)' bash`, `PAGER='rm x' git log`. */
const readVariable = (word: Word, found: Found, depth: number): boolean => {
  const { text, isKnown } = word
  if (assignsAlias(word)) addUnseen(found.parts)
  const { name = '', value = '' } = ASSIGNED.exec(text)?.groups ?? {}
  if (!RUN_VARIABLES.has(name) && !name.startsWith('BASH_FUNC_')) return false
  if (!isKnown) addUnseen(found.parts)
  // A prompt is a text with substitutions, not a line.
  if (/^PS\d$/.test(name)) {
    found.literals.push(value)
    found.evaluates = true
  } else if (value !== '') readInto(value, found, depth + 1, 'line')
  return true
}

export const programName = (word: string): string => word.slice(word.lastIndexOf('/') + 1)

const startsLater = (names: readonly string[]): boolean => {
  const [first = '', ...others] = names
  return isLauncher(first) || others.some((name) => launchesBehind(first, name))
}

/**
 * Command lines that are one word of another command (`sh -c '…'`, `ssh host '…'`), or the input of a shell.
 * `isUnseen`: an expansion in such a line may add commands.
 */
const linesWithin = (
  { words, input = [] }: CommandPart,
  names: readonly string[],
): { readonly lines: readonly string[]; readonly isUnseen: boolean } => {
  const [, ...operands] = words.map(({ text }) => text)
  const hasShell = names.some((name) => SHELLS.has(name))
  // `. /dev/stdin <<< '…'`
  const readsInput = hasShell || names[0] === '.' || names[0] === 'source'
  const given = [...(hasShell ? behindOption(words) : []), ...(readsInput ? input : [])]
  const isLine = names.some((name) => LINE_RUNNERS.has(name)) ? /[\s;&|<>$`]/ : /\s/
  const texts = names.some((name) => TEXT_RUNNERS.has(name))
    ? operands.flatMap((text) =>
        text.startsWith('-C') ? [text.slice(2)] : isLine.test(text) ? [text, ...valuesIn(text)] : [],
      )
    : []
  const evaluated = names[0] === 'eval' ? [operands.join(' ')] : []
  // An alias can change the meaning of the rest of the line.
  const isAlias = names[0] === 'alias' && words.some(({ text }) => text.includes('='))
  return {
    lines: [...new Set([...given.map(({ text }) => text), ...texts, ...evaluated])],
    isUnseen: isAlias || given.some(({ isKnown }) => !isKnown),
  }
}

/** `--filter='…'`, `--checkpoint-action=exec='…'`, `EXEC:'…'` */
const valuesIn = (text: string): readonly string[] => {
  const [first, last] = [text.search(/[=:]/), Math.max(text.lastIndexOf('='), text.lastIndexOf(':'))]
  return first === -1 ? [] : [text.slice(first + 1), text.slice(last + 1)]
}

const COMMAND_OPTION =
  /^(?:[-+][a-zA-Z]*?[cCS](?<joined>[^]*)|--(?:command|split-string|init-command|session-command)(?:=(?<value>[^]*))?)$/

/**
 * The words that may be the line of `-c`: the rest of that word, and the next words up to the first that is not an
 * option. `-o` and `-O` each take one of them.
 */
const behindOption = (words: readonly Word[]): readonly Word[] => {
  const found: Word[] = []
  let operands = 0
  for (const word of words.slice(1)) {
    const { text, isKnown } = word
    if (operands > 0) found.push(word)
    const option = COMMAND_OPTION.exec(text)?.groups
    for (const joined of [option?.['joined'], option?.['value']])
      if (joined !== undefined && joined !== '') found.push({ text: joined, isKnown })
    // A word that only the shell knows may be `-c`, unless it is a path.
    const mayBeOption = option !== undefined || (!isKnown && !/[./]/.test(text))
    if (mayBeOption && operands === 0) operands = 1
    if (operands === 0) continue
    if (/^[-+]/.test(text)) operands += takesWords(text)
    else if (isKnown) operands -= 1
  }
  return found
}

const takesWords = (option: string): number =>
  option.startsWith('--')
    ? 0
    : Array.from(option.slice(0, 64)).filter((letter) => letter === 'o' || letter === 'O').length
