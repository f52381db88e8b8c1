// Reserved words of a shell and what belongs to them, up to the first command: the list of a loop, the subject and the
// patterns of a `case`, a test, the name of a function, arithmetic.
import {
  closeCompound,
  giveUp,
  isAtOperand,
  isAtWord,
  letterAt,
  openCompound,
  passEmptyParentheses,
  skipBlanks,
  takeMentioned,
  takeText,
} from './line-reader.js'
import type { LineReader } from './line-reader.js'
import { isAtProcess, redirect } from './redirections.js'
import { CLOSED_BY, CLOSERS, PASSED_OVER, RESERVED, TEST_OPERATOR } from './shell-grammar.js'
import { UNREADABLE, endOfArithmetic } from './shell-quoting.js'
import { noteSubstitutions } from './shell-words.js'
import type { ReadWord, Word } from './shell-words.js'

/**
 * Passes a word of the shell itself, and what belongs to it. False for a word of a command. Only the first word of a
 * command can be one of the shell, without quotes.
 */
export const passReserved = (reader: LineReader, { bare, isBare }: ReadWord): boolean => {
  const { draft } = reader
  if (!isBare) return false
  if (draft.hasPrefix && RESERVED.has(bare)) {
    // Most shells run a program of that name here, and none runs a loop.
    giveUp(reader)
    return false
  }
  if (Object.hasOwn(CLOSED_BY, bare)) openCompound(reader, bare)
  if (CLOSERS.has(bare)) closeCompound(reader, bare)
  const passRest = RESTS.get(bare)
  const isOption = draft.startsAnywhere && (bare === '-p' || bare === '--')
  if (passRest === undefined && !PASSED_OVER.has(bare) && !isOption) return false
  passRest?.(reader)
  reader.isPlain = false
  return true
}

/** `for x in a b`, `for x`, `for ((…))` */
const passLoop = (reader: LineReader): void => {
  skipBlanks(reader)
  if (reader.line.startsWith('((', reader.at)) {
    passArithmetic(reader, ';')
    return
  }
  if (letterAt(reader) === '#') giveUp(reader)
  if (isAtWord(reader)) takeText(reader)
  skipBlanks(reader, ' \t\n')
  const before = reader.at
  if (!isAtOperand(reader) || takeText(reader).bare !== 'in') {
    reader.at = before
    return
  }
  skipBlanks(reader)
  while (isAtOperand(reader)) {
    takeMentioned(reader)
    skipBlanks(reader)
  }
}

const passSubject = (reader: LineReader): void => {
  skipBlanks(reader)
  if (isAtOperand(reader)) takeMentioned(reader)
  skipBlanks(reader, ' \t\n')
  if (!isAtWord(reader) || takeText(reader).bare !== 'in') giveUp(reader)
}

/** In a `case`, before the commands of a branch: one word or one operator of its pattern. */
export const passPattern = (reader: LineReader): void => {
  if (isAtWord(reader)) {
    const { bare, isBare } = takeMentioned(reader)
    if (isBare && bare === 'esac') closeCompound(reader, 'esac')
    return
  }
  const top = reader.open.at(-1)
  if (letterAt(reader) === ')' && top !== undefined) top.isAtPattern = false
  else if (!'(|'.includes(letterAt(reader))) giveUp(reader)
  reader.at += 1
}

/** `[[ … ]]` */
const passTest = (reader: LineReader): void => {
  const { line, findings } = reader
  /** Behind an operator of the test: the words since then. */
  let words: Word[] | undefined
  findings.evaluates = true
  skipBlanks(reader)
  while (reader.at < line.length) {
    // Shells differ on comments and here-documents inside of a test.
    if (letterAt(reader) === '#' || line.startsWith('<<', reader.at)) giveUp(reader)
    if (isAtWord(reader)) {
      const read = takeMentioned(reader)
      if (read.isBare && read.bare === ']]') {
        endTested(reader, words)
        return
      }
      words?.push(read)
    } else if (isAtProcess(reader)) redirect(reader)
    else if ('(<>'.includes(letterAt(reader))) reader.at += 1
    else {
      endTested(reader, words)
      words = []
      reader.at += 1
    }
    skipBlanks(reader)
  }
  giveUp(reader)
}

/** A shell that does not know `[[` runs the words behind an operator in it. */
const endTested = ({ parts }: LineReader, words: readonly Word[] = []): void => {
  const [first, second] = words
  if (first === undefined) return
  // A shell without `[[` would run `$a` of `$a == b`. Nobody writes that to run a command, so it does not count.
  if (first.isKnown || second === undefined || !TEST_OPERATOR.test(second.text))
    parts.push({ words, startsAnywhere: false })
}

const passName = (reader: LineReader): void => {
  skipBlanks(reader)
  if (isAtWord(reader)) takeText(reader)
  skipBlanks(reader)
  passEmptyParentheses(reader)
}

const startAnywhere = ({ draft }: LineReader): void => {
  draft.startsAnywhere = true
}

/** How the rest behind a reserved word is passed. Behind any other, a command follows. */
const RESTS: ReadonlyMap<string, (reader: LineReader) => void> = new Map([
  ['for', passLoop],
  ['select', passLoop],
  ['case', passSubject],
  ['[[', passTest],
  ['function', passName],
  ['time', startAnywhere],
  ['coproc', startAnywhere],
])

/** Passes `((…))`, or only its opening if it is unreadable. The expression is computed, not run. `also`: letters. */
export const passArithmetic = (reader: LineReader, also: string): boolean => {
  const { line, findings, mentioned } = reader
  reader.at += 2
  findings.evaluates = true
  const end = reader.isArithmeticLost ? UNREADABLE : endOfArithmetic(line, reader.at, also)
  if (end === UNREADABLE) {
    reader.isArithmeticLost = true
    giveUp(reader)
    return false
  }
  const content = line.slice(reader.at, end)
  noteSubstitutions(content, 'are-letters', findings)
  mentioned.push(...content.split(/\s+/).map((text): Word => ({ text, isKnown: false })))
  reader.at = end + 2
  return true
}
