// Reads one word of a command line as a POSIX shell does, without running anything.
import {
  UNREADABLE,
  decodeAnsi,
  endOfArithmetic,
  endOfBrace,
  endOfEscaped,
  endOfParenthesis,
  endOfSingle,
  substitutionsIn,
  unescapeBackquoted,
} from './shell-quoting.js'
import { isWordEnd } from './shell-grammar.js'

export interface Word {
  readonly text: string
  /** False if only the shell knows the text: `$x`, `*`, `{a,b}`, `$(…)`. */
  readonly isKnown: boolean
}

export interface ReadWord extends Word {
  /** The part before the first quote, escape or expansion, for reserved words. */
  readonly bare: string
  /** All of it is bare. */
  readonly isBare: boolean
  /** The text with a dot for each quoted letter and a dollar sign for each expansion, for assignments. */
  readonly shape: string
  /** It means nothing but itself. */
  readonly isPlain: boolean
  readonly end: number
}

/** What a reader finds besides words. */
export interface Findings {
  /** Commands inside of substitutions, still to be split. */
  readonly inner: string[]
  /** Something is never closed, or shells read it differently, or this reader does not know it. */
  isUnreadable: boolean
  /** The line has arithmetic or an array, where a shell expands texts once more, quoted ones too. */
  evaluates: boolean
}

/** Notes the command lines within a text that a shell expands. */
export const noteSubstitutions = (text: string, escapes: 'count' | 'are-letters', findings: Findings): void => {
  const { lines, isReadable } = substitutionsIn(text, escapes)
  findings.inner.push(...lines)
  if (!isReadable) findings.isUnreadable = true
}

const UNSAFE = new Set(['~', '!', '#', '\r', '\0'])
const NAME = /[A-Za-z0-9_]/
const SPECIAL_PARAMETERS = '@*#?$!-'

export const readWord = (line: string, from: number, findings: Findings): ReadWord => {
  let at = from
  let text = ''
  let shape = ''
  let isExpanded = false as boolean
  let isPlain = true
  let bare: string | undefined

  const endBare = (): void => {
    bare ??= text
  }
  const addQuoted = (piece: string): void => {
    endBare()
    text += piece
    shape += '.'.repeat(piece.length)
  }
  /** The text up to its end. Moves `at` behind the end. */
  const enclosed = (end: number): string => {
    if (end === UNREADABLE) findings.isUnreadable = true
    const until = end === UNREADABLE ? line.length : end
    const content = line.slice(at, until)
    at = until + 1
    return content
  }
  const expand = (): void => {
    endBare()
    shape += '$'
    isExpanded = true
    isPlain = false
  }
  /** `at` stands behind the dollar sign. */
  const dollar = (isInDouble: boolean): void => {
    const next = line.charAt(at)
    // `$[` is arithmetic in one shell and text in another. A continued line may hide the rest of an expansion.
    if (next === '[' || line.startsWith('\\\n', at)) findings.isUnreadable = true
    if (line.startsWith('((', at)) {
      at += 2
      noteSubstitutions(enclosed(endOfArithmetic(line, at, '')), 'are-letters', findings)
      at += 1
      findings.evaluates = true
      expand()
    } else if (next === '(') {
      at += 1
      findings.inner.push(enclosed(endOfParenthesis(line, at)))
      expand()
    } else if (next === '{') {
      at += 1
      const content = enclosed(endOfBrace(line, at, isInDouble))
      noteSubstitutions(content, 'are-letters', findings)
      // A subscript, an offset, `!x` or `@P`.
      if (/[[@!]|:[^-=+?]/.test(content)) findings.evaluates = true
      expand()
    } else if (NAME.test(next) || (next !== '' && SPECIAL_PARAMETERS.includes(next))) {
      while (NAME.test(line.charAt(at))) at += 1
      if (!NAME.test(next)) at += 1
      expand()
    } else if (isInDouble) addQuoted('$')
    else {
      text += '$'
      shape += '$'
    }
  }
  const backquote = (isInDouble: boolean): void => {
    const content = enclosed(endOfEscaped(line, at, '`'))
    // The meaning of the backslash depends on the shell. A continued line is joined before the escapes are read.
    if ((isInDouble && content.includes('\\"')) || content.includes('\\\n')) findings.isUnreadable = true
    findings.inner.push(unescapeBackquoted(content))
    expand()
  }
  const doubleQuoted = (): void => {
    endBare()
    while (at < line.length) {
      const letter = line.charAt(at)
      at += 1
      if (letter === '"') return
      if (letter === '\\') {
        const next = line.charAt(at)
        addQuoted(next === '\n' ? '' : '$`"\\'.includes(next) ? next : `\\${next}`)
        at += 1
      } else if (letter === '$') dollar(true)
      else if (letter === '`') backquote(true)
      else addQuoted(letter)
    }
    findings.isUnreadable = true
    isPlain = false
  }

  while (!isWordEnd(line[at])) {
    const letter = line.charAt(at)
    at += 1
    if (letter === "'") {
      const end = endOfSingle(line, at)
      if (end === UNREADABLE) isPlain = false
      addQuoted(enclosed(end))
    } else if (letter === '"') doubleQuoted()
    else if (letter === '\\') {
      if (at >= line.length) isPlain = false
      else if (line.charAt(at) === '\n') {
        isPlain = false
        if (!isCleanContinuation(line, at)) findings.isUnreadable = true
      } else addQuoted(line.charAt(at))
      at += 1
    } else if (letter === '$' && line.charAt(at) === "'") {
      at += 1
      isPlain = false
      const decoded = decodeAnsi(enclosed(endOfEscaped(line, at, "'")))
      if (decoded === undefined) findings.isUnreadable = true
      addQuoted(decoded ?? '')
    } else if (letter === '$' && line.charAt(at) === '"') isPlain = false
    else if (letter === '$') dollar(false)
    else if (letter === '`') backquote(false)
    else {
      if (UNSAFE.has(letter)) isPlain = false
      text += letter
      shape += letter
    }
  }
  const isKnown = !isExpanded && !hasWildcard(shape)
  return { text, isKnown, bare: bare ?? text, isBare: bare === undefined, shape, isPlain: isPlain && isKnown, end: at }
}

/** `*`, `?`, `[…]`, `{a,b}` or `{1..9}`. A single bracket or brace is a letter. */
const hasWildcard = (shape: string): boolean => {
  if (shape.includes('*') || shape.includes('?')) return true
  const [bracket, brace] = [shape.indexOf('['), shape.indexOf('{')]
  if (bracket !== -1 && shape.lastIndexOf(']') > bracket) return true
  const within = brace === -1 ? '' : shape.slice(brace, shape.lastIndexOf('}') + 1)
  return within.includes(',') || within.includes('..')
}

/**
 * At the newline behind a backslash. Both vanish, so the text before them and behind them becomes one. Beside a blank,
 * and between an operator and a word, that changes nothing. Elsewhere it could make an operator, a reserved word or a
 * comment.
 */
export const isCleanContinuation = (line: string, newline: number): boolean => {
  const [before, behind] = [line.charAt(newline - 2), line.charAt(newline + 1)]
  return ' \t\n'.includes(before) || ' \t'.includes(behind) || ('&|;'.includes(before) && /[\w./"'-]/.test(behind))
}
