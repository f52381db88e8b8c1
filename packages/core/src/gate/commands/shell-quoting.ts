// Finds the ends of quotes, substitutions and here-documents of a shell. Each function looks at each letter once per
// level of nesting. It returns UNREADABLE for a text that is never closed, or that two shells end in different places:
// a reader that continues behind a wrong end could overlook a command.
import { endOfDocuments, hereDocumentAt } from './here-documents.js'
import type { HereDocument } from './here-documents.js'
import { isWordEnd } from './shell-grammar.js'

export const UNREADABLE = -1
/** People nest three or four. */
const MAX_DEPTH = 50

/** Behind a single quote: the place of the next one. */
export const endOfSingle = (line: string, from: number): number => line.indexOf("'", from)

/** Behind `$'` or a backquote: the place of the closing one, past escapes. */
export const endOfEscaped = (line: string, from: number, close: "'" | '`'): number => {
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1
    else if (line[at] === close) return at
  }
  return UNREADABLE
}

/** Behind a double quote: the place of the one that closes it. */
const endOfDouble = (line: string, from: number, depth: number): number => {
  if (depth > MAX_DEPTH) return UNREADABLE
  for (let at = from; at < line.length; at += 1) {
    const letter = line[at]
    if (letter === '"') return at
    const end = letter === '\\' ? at + 1 : letter === '`' || letter === '$' ? endOfExpansion(line, at, true, depth) : at
    if (end === UNREADABLE) return UNREADABLE
    at = end
  }
  return UNREADABLE
}

/** At a dollar sign or a backquote: the last place of the expansion, or the same place if there is none. */
const endOfExpansion = (line: string, at: number, isInDouble: boolean, depth: number): number => {
  if (line[at] === '`') return endOfEscaped(line, at + 1, '`')
  const next = line[at + 1]
  // `$[1<<2]` is arithmetic in one shell and text in another. A continued line may hide the rest of an expansion.
  if (next === '[' || (next === '\\' && line[at + 2] === '\n')) return UNREADABLE
  if (next === '(' && line[at + 2] === '(') {
    const end = endOfArithmetic(line, at + 3, '', depth + 1)
    return end === UNREADABLE ? UNREADABLE : end + 1
  }
  if (next === '(') return endOfParenthesis(line, at + 2, depth + 1)
  if (next === '{') return endOfBrace(line, at + 2, isInDouble, depth + 1)
  if (next === "'" && !isInDouble) return endOfEscaped(line, at + 2, "'")
  return at
}

/**
 * Behind `${`: the place of the closing brace. Within double quotes, the meaning of a single quote depends on the
 * operator and on the shell, so a text with one is unreadable.
 */
export const endOfBrace = (line: string, from: number, isInDouble: boolean, depth = 0): number => {
  if (depth > MAX_DEPTH) return UNREADABLE
  // `${ command; }` and `${|command; }` run a command in some shells.
  if (' \t\n|('.includes(line[from] ?? ' ')) return UNREADABLE
  for (let at = from; at < line.length; at += 1) {
    const [letter, next] = [line[at], line[at + 1]]
    if (letter === '}') return at
    if (letter === "'" && isInDouble) return UNREADABLE
    if (letter === '\\' && next === '\n') return UNREADABLE
    if (letter === '$' && next === "'") return UNREADABLE
    if ((letter === '<' || letter === '>') && next === '(') return UNREADABLE
    if (letter === '"' && isInDouble) {
      const close = line.indexOf('"', at + 1)
      if (close === -1 || /['\\$`{}]/.test(line.slice(at + 1, close))) return UNREADABLE
      at = close
      continue
    }
    const end = endOfQuoted(line, at, depth)
    if (end === UNREADABLE) return UNREADABLE
    at = end
  }
  return UNREADABLE
}

const endOfQuoted = (line: string, at: number, depth: number): number => {
  switch (line[at]) {
    case '\\':
      return at + 1
    case "'":
      return endOfSingle(line, at + 1)
    case '"':
      return endOfDouble(line, at + 1, depth + 1)
    case '$':
    case '`':
      return endOfExpansion(line, at, false, depth)
    default:
      return at
  }
}

const ARITHMETIC = /[\w \t+\-*/%=!<>&|?:,~^[\].@]/

/**
 * Behind `((`: the place of the first of the two closing parentheses. It accepts only letters that mean the same to
 * every shell, and those of `also`. Anything else may be commands that begin with a parenthesis.
 */
export const endOfArithmetic = (line: string, from: number, also: string, depth = 0): number => {
  if (depth > MAX_DEPTH) return UNREADABLE
  let open = 0
  for (let at = from; at < line.length; at += 1) {
    const letter = line.charAt(at)
    if (letter === '(') open += 1
    else if (letter === ')' && open > 0) open -= 1
    else if (letter === ')') return line[at + 1] === ')' ? at : UNREADABLE
    else if (letter === '$') {
      const end = endOfExpansion(line, at, true, depth)
      if (end === UNREADABLE) return UNREADABLE
      at = end
    } else if (letter === '#' ? !/[\d$]/.test(line.charAt(at - 1)) : !ARITHMETIC.test(letter) && !also.includes(letter))
      return UNREADABLE
  }
  return UNREADABLE
}

/**
 * Behind an opening parenthesis: the place of the closing one, past comments, here-documents and patterns of `case`. In
 * rare cases it is a guess. `splitLine` then reads the content as a line of its own, which must be whole.
 */
export const endOfParenthesis = (line: string, from: number, depth = 0): number => {
  if (depth > MAX_DEPTH) return UNREADABLE
  const documents: HereDocument[] = []
  let open = 0
  let cases = 0
  for (let at = from; at < line.length; at += 1) {
    const isWordStart = isWordEnd(line[at - 1])
    switch (line[at]) {
      case '(':
        open += 1
        break
      case ')':
        if (open > 0) open -= 1
        else if (cases === 0) return at
        break
      case '#':
        if (isWordStart) at = endOfLine(line, at) - 1
        break
      case '\n':
        at = endOfDocuments(line, at + 1, documents.splice(0)).end - 1
        break
      case '<': {
        const document =
          line[at + 1] === '<' && line[at + 2] !== '<' && line[at - 1] !== '<'
            ? hereDocumentAt(line, at + 2)
            : undefined
        if (document === 'unreadable') return UNREADABLE
        if (document === undefined) break
        documents.push(document)
        at = document.end - 1
        break
      }
      default: {
        if (isWordStart && line.startsWith('case', at) && isWordEnd(line[at + 4])) cases += 1
        if (isWordStart && line.startsWith('esac', at) && isWordEnd(line[at + 4])) cases -= 1
        const end = endOfQuoted(line, at, depth)
        if (end === UNREADABLE) return UNREADABLE
        at = end
      }
    }
  }
  return UNREADABLE
}

export const endOfLine = (line: string, from: number): number => {
  const end = line.indexOf('\n', from)
  return end === -1 ? line.length : end
}

/**
 * The command lines within a text that a shell expands: a here-document, an arithmetic expression, `${…}`. Quotes do
 * not count there, so it finds quoted ones too. `escapes`: whether a backslash before `$` counts.
 */
export const substitutionsIn = (
  text: string,
  escapes: 'count' | 'are-letters',
): { readonly lines: readonly string[]; readonly isReadable: boolean } => {
  const lines: string[] = []
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\' && escapes === 'count') at += 1
    else if (text[at] === '$' && (text[at + 1] === '[' || (text[at + 1] === '\\' && text[at + 2] === '\n')))
      return { lines, isReadable: false }
    else if (text[at] === '$' && text.startsWith('((', at + 1)) {
      if (endOfArithmetic(text, at + 3, '') === UNREADABLE) return { lines, isReadable: false }
      at += 2
    } else if (text[at] === '`' || (text[at] === '$' && text[at + 1] === '(')) {
      const end = endOfExpansion(text, at, true, 0)
      if (end === UNREADABLE) return { lines, isReadable: false }
      if (text[at] === '`' && text.slice(at, end).includes('\\\n')) return { lines, isReadable: false }
      lines.push(text[at] === '`' ? unescapeBackquoted(text.slice(at + 1, end)) : text.slice(at + 2, end))
      at = end
    }
  }
  return { lines, isReadable: true }
}

// The texts of `$'…'` and of backquotes. Shells differ on rare escapes, so an unlisted escape has no known text.

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  'n': '\n',
  't': '\t',
  'r': '\r',
  'a': '\x07',
  'b': '\b',
  'f': '\f',
  'v': '\v',
  'e': '\x1b',
  'E': '\x1b',
  '\\': '\\',
  '"': '"',
  '?': '?',
}
const ANSI_ESCAPE =
  /\\(?:x(?<hex>[0-9a-fA-F]{1,2})|u(?<short>[0-9a-fA-F]{1,4})|U(?<long>[0-9a-fA-F]{1,8})|(?<octal>[0-7]{1,3})|(?<other>[^]?))/g
/** A NUL ends the text in bash and not in other shells. Here it also marks an escape without a known text. */
const UNKNOWN = '\0'

/**
 * The text of `$'…'`, or undefined if it is not certain. An escaped single quote is not certain: a shell without `$'…'`
 * ends the text there, and runs the rest.
 */
export const decodeAnsi = (text: string): string | undefined => {
  const decoded = text.replace(ANSI_ESCAPE, (...match: unknown[]) => {
    const { hex, short, long, octal, other = '' } = match.at(-1) as Record<string, string | undefined>
    const code = hex ?? short ?? long
    if (code !== undefined) return fromCode(parseInt(code, 16))
    if (octal !== undefined) return fromCode(parseInt(octal, 8) & 0xff)
    return SIMPLE_ESCAPES[other] ?? UNKNOWN
  })
  return decoded.includes(UNKNOWN) ? undefined : decoded
}

const fromCode = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : UNKNOWN)

/** The command line between two backquotes, where a backslash escapes only these three. */
export const unescapeBackquoted = (text: string): string => text.replace(/\\([$`\\])/g, '$1')
