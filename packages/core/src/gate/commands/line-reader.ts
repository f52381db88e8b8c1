// The reader of a command line: its place in the line, what is open at this place, and what it has found so far. The
// steps of shell-line.ts, shell-compounds.ts and redirections.ts move it.
import type { HereDocument } from './here-documents.js'
import { CLOSED_BY, isWordEnd } from './shell-grammar.js'
import { isCleanContinuation, readWord } from './shell-words.js'
import type { Findings, ReadWord, Word } from './shell-words.js'

/** A loop, condition, group or `case` whose closing word has not come yet. */
interface OpenCompound {
  readonly closer: string
  /** A pattern of a `case` comes next, and not a command. */
  isAtPattern: boolean
}

/** A here-document whose text begins on the next line. */
interface AwaitedDocument {
  readonly document: HereDocument
  /** The command that reads it. */
  readonly draft: CommandDraft
}

export interface LineReader {
  readonly line: string
  at: number
  /** The command that the reader is in. */
  draft: CommandDraft
  /** Innermost last. */
  readonly open: OpenCompound[]
  awaited: AwaitedDocument[]
  /** One arithmetic expression was unreadable, so a later `((` is not tried again. */
  isArithmeticLost: boolean
  /** All words so far mean nothing but themselves. */
  isPlain: boolean
  readonly parts: CommandPart[]
  /** Words outside of commands. */
  readonly mentioned: Word[]
  readonly findings: Findings
}

export const newReader = (line: string): LineReader => ({
  line,
  at: 0,
  draft: newDraft(),
  open: [],
  awaited: [],
  isArithmeticLost: false,
  isPlain: true,
  parts: [],
  mentioned: [],
  findings: { inner: [], isUnreadable: line.includes('\0'), evaluates: false },
})

/** The letter at the reader's place, or an empty text at the end of the line. */
export const letterAt = ({ line, at }: LineReader): string => line.charAt(at)

export const isAtWord = (reader: LineReader): boolean => reader.at < reader.line.length && !isWordEnd(letterAt(reader))

/** At a word, and not at a comment. */
export const isAtOperand = (reader: LineReader): boolean => isAtWord(reader) && letterAt(reader) !== '#'

export const isContinued = ({ line, at }: LineReader): boolean => line.startsWith('\\\n', at)

/** The line may have commands that the reader does not find. */
export const giveUp = ({ findings }: LineReader): void => {
  findings.isUnreadable = true
}

export const skipContinuation = (reader: LineReader): void => {
  if (!isCleanContinuation(reader.line, reader.at + 1)) giveUp(reader)
  reader.isPlain = false
  reader.at += 2
}

export const skipBlanks = (reader: LineReader, letters = ' \t'): void => {
  while (reader.at < reader.line.length) {
    if (isContinued(reader)) skipContinuation(reader)
    else if (letters.includes(letterAt(reader))) reader.at += 1
    else return
  }
}

export const takeText = (reader: LineReader): ReadWord => {
  const read = readWord(reader.line, reader.at, reader.findings)
  reader.at = Math.max(read.end, reader.at)
  if (!read.isPlain) reader.isPlain = false
  return read
}

export const mention = ({ mentioned }: LineReader, { text, isKnown }: Word): void => {
  mentioned.push({ text, isKnown })
}

/** Reads a word outside of commands. */
export const takeMentioned = (reader: LineReader): ReadWord => {
  const read = takeText(reader)
  mention(reader, read)
  return read
}

export const endCommand = (reader: LineReader): void => {
  reader.parts.push(...partsOf(reader.draft))
  reader.draft = newDraft()
}

export const openCompound = ({ open }: LineReader, opener: string): void => {
  open.push({ closer: CLOSED_BY[opener] ?? '', isAtPattern: opener === 'case' })
}

export const closeCompound = (reader: LineReader, closer: string): void => {
  if (reader.open.pop()?.closer !== closer) giveUp(reader)
}

/** Passes `()`, with blanks in it, behind the name of a function. */
export const passEmptyParentheses = (reader: LineReader): boolean => {
  const { line, at } = reader
  const parentheses = /^\(\s*\)/.exec(line.slice(at, at + 16))?.[0] ?? ''
  reader.at += parentheses.length
  return parentheses !== ''
}

export interface CommandPart {
  readonly words: readonly Word[]
  /** The command may start at any of its words. */
  readonly startsAnywhere: boolean
  /** Texts of its standard input: here-documents and here-strings. */
  readonly input?: readonly Word[]
}

/** A command of a line while the reader is in it. */
interface CommandDraft {
  words: Word[]
  startsAnywhere: boolean
  input: Word[]
  /** Where its last word ended. A number directly before a redirection is part of the redirection. */
  lastEnd: number
  isLastBare: boolean
  /** An assignment or a redirection stands before its words, so no reserved word can follow. */
  hasPrefix: boolean
  /** `ls &>f rm`: one shell sees `ls rm`, another `ls &` and `rm`, which begins at this word. */
  alsoFrom: number | undefined
}

export const newDraft = (): CommandDraft => ({
  words: [],
  startsAnywhere: false,
  input: [],
  lastEnd: -1,
  isLastBare: false,
  hasPrefix: false,
  alsoFrom: undefined,
})

/** The commands that it is. Their input may follow, because a here-document begins on the next line. */
const partsOf = (draft: CommandDraft): readonly CommandPart[] => {
  const { words, startsAnywhere, input, alsoFrom = 0 } = draft
  if (words.length === 0) return []
  const whole = { words, startsAnywhere, input }
  return alsoFrom > 0 && alsoFrom < words.length ? [whole, { ...whole, words: words.slice(alsoFrom) }] : [whole]
}
