// Splits a command line the way a POSIX shell would, as far as that can be done without running it.
// Everything beyond words and quotes (substitutions, pipes, redirections, expansions) is followed
// only to find the commands inside; the line as a whole is then no longer `isPlain`.

export interface Word {
  readonly text: string
  /** False where only the shell knows the text: `$x`, `*`, `{a,b}`, `$(…)`. */
  readonly isKnown: boolean
}

/** One command of a line. */
export interface CommandPart {
  readonly words: readonly Word[]
  /** Redirections and assignments stand between the words, so the command may start at any of them. */
  readonly startsAnywhere: boolean
}

export interface SplitLine {
  /** One command, made of words that mean nothing but themselves. */
  readonly isPlain: boolean
  readonly parts: readonly CommandPart[]
  /** Commands inside of substitutions, still to be split. */
  readonly inner: readonly string[]
}

const SEPARATORS = new Set([';', '&', '|', '(', ')', '\n'])
const EXPANDING = new Set(['*', '?', '[', ']', '{', '}'])
const UNSAFE = new Set(['~', '!', '#', '\r', '\0'])
const NAME = /[A-Za-z0-9_]/

export const splitLine = (line: string): SplitLine => {
  const parts: CommandPart[] = []
  const inner: string[] = []
  let isPlain = true
  let words: Word[] = []
  let startsAnywhere = false
  let text = ''
  let isWord = false
  let isKnown = true
  let at = 0

  const add = (piece: string) => {
    text += piece
    isWord = true
  }
  const endWord = () => {
    if (isWord) words.push({ text, isKnown })
    text = ''
    isWord = false
    isKnown = true
  }
  const endPart = () => {
    endWord()
    if (words.length > 0) parts.push({ words, startsAnywhere })
    words = []
    startsAnywhere = false
  }
  /** From an opening character to the one that closes it; to the end where it is never closed. */
  const enclosed = (close: string): string => {
    const end = endOfEnclosed(line, at, close)
    const content = line.slice(at, end)
    at = end + 1
    return content
  }
  const unknown = () => {
    isKnown = false
    isWord = true
    isPlain = false
  }
  /** `at` stands behind the dollar sign. */
  const dollar = () => {
    const next = line.charAt(at)
    if (next === '(' || next === '{') {
      at += 1
      inner.push(enclosed(next === '(' ? ')' : '}'))
      unknown()
    } else if (NAME.test(next) || (next !== '' && '@*#?$!-'.includes(next))) {
      while (NAME.test(line.charAt(at))) at += 1
      if (!NAME.test(next)) at += 1
      unknown()
    } else {
      add('$')
    }
  }
  const backquote = () => {
    inner.push(enclosed('`').replaceAll('\\`', '`'))
    unknown()
  }
  const doubleQuoted = () => {
    isWord = true
    while (at < line.length) {
      const character = line.charAt(at)
      at += 1
      if (character === '"') return
      if (character === '\\') {
        const next = line.charAt(at)
        add('$`"\\\n'.includes(next) ? next : `\\${next}`)
        at += 1
      } else if (character === '$') dollar()
      else if (character === '`') backquote()
      else add(character)
    }
    isPlain = false
  }

  while (at < line.length) {
    const character = line.charAt(at)
    at += 1
    if (character === ' ' || character === '\t') endWord()
    else if (SEPARATORS.has(character)) {
      endPart()
      isPlain = false
    } else if (character === '<' || character === '>') {
      endWord()
      startsAnywhere = true
      isPlain = false
    } else if (character === "'") {
      const end = line.indexOf("'", at)
      if (end === -1) isPlain = false
      add(line.slice(at, end === -1 ? line.length : end))
      at = end === -1 ? line.length : end + 1
    } else if (character === '"') doubleQuoted()
    else if (character === '\\') {
      if (at >= line.length || line.charAt(at) === '\n') isPlain = false
      else add(line.charAt(at))
      at += 1
    } else if (character === '$' && line.charAt(at) === "'") {
      at += 1
      add(decodeAnsi(enclosed("'")))
      isPlain = false
    } else if (character === '$' && line.charAt(at) === '"') isPlain = false
    else if (character === '$') dollar()
    else if (character === '`') backquote()
    else {
      if (EXPANDING.has(character)) unknown()
      if (UNSAFE.has(character)) isPlain = false
      add(character)
    }
  }
  endPart()
  return { isPlain: isPlain && parts.length === 1, parts, inner }
}

const OPENERS: Readonly<Record<string, string>> = { ')': '(', '}': '{' }

/** The place of the closing character, past nested pairs, quotes and escapes. */
const endOfEnclosed = (line: string, from: number, close: string): number => {
  const open = OPENERS[close]
  let depth = 0
  for (let at = from; at < line.length; at += 1) {
    const character = line.charAt(at)
    if (character === '\\') at += 1
    else if (character === "'" && close !== "'" && close !== '`') {
      const end = line.indexOf("'", at + 1)
      if (end === -1) return line.length
      at = end
    } else if (character === close && depth === 0) return at
    else if (character === close) depth -= 1
    else if (character === open) depth += 1
  }
  return line.length
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
