// Splits a command line into its commands, also those in loops, conditions, groups, tests, functions and
// here-documents. A line is unreadable if anything in it is open at its end, or if bash and a POSIX shell would read it
// differently. Every denial fits an unreadable line.
import {
  closeCompound,
  endCommand,
  giveUp,
  isAtWord,
  isContinued,
  letterAt,
  mention,
  newDraft,
  newReader,
  openCompound,
  passEmptyParentheses,
  skipBlanks,
  skipContinuation,
  takeMentioned,
  takeText,
} from './line-reader.js'
import type { CommandPart, LineReader } from './line-reader.js'
import { readDocuments, redirect } from './redirections.js'
import { passArithmetic, passPattern, passReserved } from './shell-compounds.js'
import { ASSIGNMENT, SIMPLE_PATTERN, SUBSCRIPT, isBalanced, isWordEnd } from './shell-grammar.js'
import { endOfLine } from './shell-quoting.js'
import type { Word } from './shell-words.js'

interface SplitLine {
  /** One command of words that mean nothing but themselves. */
  readonly isPlain: boolean
  readonly parts: readonly CommandPart[]
  /** Words outside of commands: targets of redirections, lists of loops, values of assignments, operands of tests. */
  readonly mentioned: readonly Word[]
  /** Commands inside of substitutions, still to be split. */
  readonly inner: readonly string[]
  /** The line may have commands that were not found. */
  readonly isUnreadable: boolean
  /** It ends in a comment. If it was cut out of a longer line, it was cut at the wrong place. */
  readonly endsInComment: boolean
  /** It has arithmetic or an array. There a shell expands texts once more, quoted ones too. */
  readonly evaluates: boolean
}

export const splitLine = (line: string): SplitLine => {
  const reader = newReader(line)
  let step: keyof typeof STEPS | undefined
  while (reader.at < line.length) {
    const start = reader.at
    const isAwaiting = reader.awaited.length > 0
    step = nextStep(reader)
    STEPS[step](reader)
    // Shells differ on a here-document behind a newline in quotes or in a substitution.
    if (isAwaiting && step !== 'newline' && line.slice(start, reader.at).includes('\n')) giveUp(reader)
  }
  endCommand(reader)
  if (reader.awaited.length > 0 || reader.open.length > 0) giveUp(reader)
  const { parts, mentioned } = reader
  const { inner, isUnreadable, evaluates } = reader.findings
  // Denials of paths and hosts still see every word of an unreadable line.
  if (isUnreadable) mentioned.push(...line.split(/[\s'"\\;&|<>()$`]+/).map((text): Word => ({ text, isKnown: false })))
  return {
    isPlain: reader.isPlain && !isUnreadable && parts.length === 1,
    parts,
    mentioned,
    inner,
    isUnreadable,
    endsInComment: step === 'comment',
    evaluates,
  }
}

const nextStep = (reader: LineReader): keyof typeof STEPS => {
  const letter = letterAt(reader)
  if (letter === ' ' || letter === '\t') return 'blank'
  if (isContinued(reader)) return 'continuation'
  if (letter === '\n') return 'newline'
  if (letter === '#') return 'comment'
  if (reader.open.at(-1)?.isAtPattern === true) return 'pattern'
  if (letter === '<' || letter === '>' || reader.line.startsWith('&>', reader.at)) return 'redirection'
  if (letter === '(') return 'parenthesis'
  return isWordEnd(letter) ? 'operator' : 'word'
}

const takeOperator = (reader: LineReader): void => {
  const { line, at, open } = reader
  endCommand(reader)
  reader.isPlain = false
  const top = open.at(-1)
  const endOfBranch = /^(?:;;&?|;&)/.exec(line.slice(at, at + 3))?.[0]
  if (top?.closer === 'esac' && endOfBranch !== undefined) {
    top.isAtPattern = true
    reader.at += endOfBranch.length
    return
  }
  if (letterAt(reader) === ')') closeCompound(reader, ')')
  reader.at += 1
}

const takeParenthesis = (reader: LineReader): void => {
  const { line, draft } = reader
  reader.isPlain = false
  if (draft.words.length === 1 && passEmptyParentheses(reader)) {
    // `name()` is not a command, but a command follows.
    reader.draft = newDraft()
    return
  }
  if (draft.words.length > 0) {
    if (passedPattern(reader)) return
    giveUp(reader)
  }
  endCommand(reader)
  if (line.startsWith('((', reader.at)) {
    // A shell without arithmetic runs these as commands, so they are read as commands too.
    const before = reader.at
    if (passArithmetic(reader, '') && line.slice(before, reader.at).includes('<<')) giveUp(reader)
    reader.at = before
  }
  openCompound(reader, '(')
  reader.at += 1
}

/** Passes the rest of a pattern such as `!(a|b)`. Only that can follow a word directly, and only in bash. */
const passedPattern = (reader: LineReader): boolean => {
  const { line, at, draft } = reader
  const pattern = draft.lastEnd === at ? SIMPLE_PATTERN.exec(line.slice(at, at + 256))?.[0] : undefined
  if (pattern === undefined) return false
  draft.words.push({ text: '', isKnown: false })
  reader.at += pattern.length
  draft.lastEnd = reader.at
  return true
}

const takeWord = (reader: LineReader): void => {
  const read = takeText(reader)
  const { draft } = reader
  const isFirst = draft.words.length === 0
  // In bash a subscript goes on to its bracket, past blanks and operators.
  if (SUBSCRIPT.test(read.shape)) {
    reader.findings.evaluates = true
    if (!isBalanced(read.shape) && (isFirst || '<>|&;('.includes(letterAt(reader) || ' '))) giveUp(reader)
  }
  const isAssignment = ASSIGNMENT.test(read.shape)
  if (isAssignment && read.shape.endsWith('=') && letterAt(reader) === '(') passArray(reader)
  if (isFirst && passReserved(reader, read)) return
  if (isFirst && isAssignment) {
    reader.isPlain = false
    draft.hasPrefix = true
    mention(reader, read)
    return
  }
  draft.words.push({ text: read.text, isKnown: read.isKnown })
  draft.lastEnd = reader.at
  draft.isLastBare = read.isBare
}

/** At the parenthesis of `a=(`. */
const passArray = (reader: LineReader): void => {
  reader.isPlain = false
  reader.findings.evaluates = true
  reader.at += 1
  // The word must not continue behind the parenthesis.
  if (!passElements(reader) || isAtWord(reader)) giveUp(reader)
}

/** Passes the words of an array and its closing parenthesis. False if shells may differ on where that is. */
const passElements = (reader: LineReader): boolean => {
  skipBlanks(reader, ' \t\n')
  while (isAtWord(reader)) {
    if (letterAt(reader) === '#') reader.at = endOfLine(reader.line, reader.at)
    else if (!isBalanced(takeMentioned(reader).shape)) return false
    skipBlanks(reader, ' \t\n')
  }
  if (letterAt(reader) !== ')') return false
  reader.at += 1
  return true
}

/** How the reader passes what stands at its place. */
const STEPS = {
  blank: (reader) => {
    reader.at += 1
  },
  continuation: skipContinuation,
  newline: (reader) => {
    endCommand(reader)
    reader.at += 1
    reader.isPlain = false
    if (reader.awaited.length > 0) readDocuments(reader)
  },
  comment: (reader) => {
    reader.isPlain = false
    reader.at = endOfLine(reader.line, reader.at)
  },
  pattern: passPattern,
  redirection: redirect,
  parenthesis: takeParenthesis,
  operator: takeOperator,
  word: takeWord,
} as const satisfies Readonly<Record<string, (reader: LineReader) => void>>
