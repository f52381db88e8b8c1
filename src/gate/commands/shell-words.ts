// Reads one word of a command line the way a POSIX shell would, as far as that can be done without running it.
import { UNREADABLE, endOfBrace, endOfEscaped, endOfParenthesis, endOfSingle, substitutionsIn } from './shell-quoting.js'

export interface Word {
  readonly text: string
  /** False where only the shell knows the text: `$x`, `*`, `{a,b}`, `$(…)`. */
  readonly isKnown: boolean
}

export interface ReadWord extends Word {
  /** What stands before the first quote, escape or expansion; reserved words and assignments are recognised by it. */
  readonly bare: string
  /** All of it is bare. */
  readonly isBare: boolean
  /** It means nothing but itself. */
  readonly isPlain: boolean
  readonly end: number
}

/** What a reader finds beside words. */
export interface Findings {
  /** Commands inside of substitutions, still to be split. */
  readonly inner: string[]
  /** Something is never closed, or is beyond this reader. */
  isUnreadable: boolean
}

const WORD_END = new Set([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>'])
const UNSAFE = new Set(['~', '!', '#', '\r', '\0'])
const NAME = /[A-Za-z0-9_]/
const SPECIAL_PARAMETERS = '@*#?$!-'

export const isWordEnd = (letter: string): boolean => WORD_END.has(letter)

export const readWord = (line: string, from: number, findings: Findings): ReadWord => {
  let at = from
  let text = ''
  /** As `text`, with a dot for every letter that was quoted: only the others are wildcards. */
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
  const give = (inner: readonly string[], isReadable: boolean): void => {
    findings.inner.push(...inner)
    if (!isReadable) findings.isUnreadable = true
  }
  /** The text up to an end that was looked for; `at` then stands behind it. */
  const enclosed = (end: number): string => {
    if (end === UNREADABLE) findings.isUnreadable = true
    const until = end === UNREADABLE ? line.length : end
    const content = line.slice(at, until)
    at = until + 1
    return content
  }
  const expand = (): void => {
    endBare()
    isExpanded = true
    isPlain = false
  }
  /** `at` stands behind the dollar sign. */
  const dollar = (isInDouble: boolean): void => {
    const next = line.charAt(at)
    if (next === '(') {
      at += 1
      const content = enclosed(endOfParenthesis(line, at))
      const arithmetic = arithmeticIn(content)
      if (arithmetic === undefined) findings.inner.push(content)
      else give(arithmetic.lines, arithmetic.isReadable)
      expand()
    } else if (next === '{') {
      at += 1
      const content = enclosed(endOfBrace(line, at, isInDouble))
      const { lines, isReadable } = substitutionsIn(content)
      // `${ command; }` is a substitution of its own in some shells.
      give(/^[\s|]/.test(content) ? [...lines, content] : lines, isReadable)
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
  const backquote = (): void => {
    findings.inner.push(enclosed(endOfEscaped(line, at, '`')).replaceAll('\\`', '`'))
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
      else if (letter === '`') backquote()
      else addQuoted(letter)
    }
    findings.isUnreadable = true
    isPlain = false
  }

  while (at < line.length && !WORD_END.has(line.charAt(at))) {
    const letter = line.charAt(at)
    at += 1
    if (letter === "'") {
      const end = endOfSingle(line, at)
      if (end === UNREADABLE) isPlain = false
      addQuoted(enclosed(end))
    } else if (letter === '"') doubleQuoted()
    else if (letter === '\\') {
      if (at >= line.length || line.charAt(at) === '\n') isPlain = false
      else addQuoted(line.charAt(at))
      at += 1
    } else if (letter === '$' && line.charAt(at) === "'") {
      at += 1
      isPlain = false
      addQuoted(decodeAnsi(enclosed(endOfEscaped(line, at, "'"))))
    } else if (letter === '$' && line.charAt(at) === '"') isPlain = false
    else if (letter === '$') dollar(false)
    else if (letter === '`') backquote()
    else {
      if (UNSAFE.has(letter)) isPlain = false
      text += letter
      shape += letter
    }
  }
  const isKnown = !isExpanded && !hasWildcard(shape)
  return { text, isKnown, bare: bare ?? text, isBare: bare === undefined, isPlain: isPlain && isKnown, end: at }
}

/** `*`, `?`, `[…]` and `{a,b}` or `{1..9}`; alone, a bracket or a brace is a letter. */
const hasWildcard = (shape: string): boolean => {
  if (shape.includes('*') || shape.includes('?')) return true
  const [bracket, brace] = [shape.indexOf('['), shape.indexOf('{')]
  if (bracket !== -1 && shape.lastIndexOf(']') > bracket) return true
  const within = brace === -1 ? '' : shape.slice(brace, shape.lastIndexOf('}') + 1)
  return within.includes(',') || within.includes('..')
}

/** Of `$((…))`, without the outer pair; undefined where the content is made of commands that begin with a parenthesis. */
const arithmeticIn = (content: string): ReturnType<typeof substitutionsIn> | undefined => {
  if (!content.startsWith('(') || !content.endsWith(')')) return undefined
  let open = 0
  for (let at = 0; at < content.length; at += 1) {
    if (content[at] === '(') open += 1
    else if (content[at] === ')') open -= 1
    if (open === 0 && at < content.length - 1) return undefined
  }
  return substitutionsIn(content)
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v', e: '\x1b', E: '\x1b' }
const ANSI_ESCAPE = /\\(?:x(?<hex>[0-9a-fA-F]{1,2})|u(?<short>[0-9a-fA-F]{1,4})|U(?<long>[0-9a-fA-F]{1,6})|(?<octal>[0-7]{1,3})|(?<other>[^]))/g

/** `$'…'` */
const decodeAnsi = (text: string): string =>
  text.replace(ANSI_ESCAPE, (...match: unknown[]) => {
    const { hex, short, long, octal, other = '' } = match.at(-1) as Record<string, string | undefined>
    const code = hex ?? short ?? long
    if (code !== undefined) return fromCode(parseInt(code, 16))
    if (octal !== undefined) return fromCode(parseInt(octal, 8))
    return SIMPLE_ESCAPES[other] ?? other
  })

const fromCode = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '')
