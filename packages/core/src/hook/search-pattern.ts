// Where the pattern of a search tool begins. Agents differ in their patterns, so all forms that some of them know are
// read: `{a,b}`, `@(a|b)`, `(a|b)`, `[.]`, `\.`. A pattern is judged by every text that it can stand for.

/** More texts than in any pattern that somebody means. */
const MOST = 256

/** Stands for a wildcard. No path contains it. */
const WILD = '\0'

/** The paths at which the search begins, relative to its folder. Without a wildcard it is the path of a file. */
export const startsOfPattern = (pattern: string): readonly string[] => {
  const texts = textsOfPattern(pattern)
  if (texts === undefined) return ['/']
  // As it stands too, because some tools first look for a file of this name.
  return [...new Set([...texts.map(startOf), ...(/(?:^|\/)\.\.(?:\/|$)/.test(pattern) ? [pattern] : [])])]
}

const startOf = (text: string): string => {
  const wild = text.indexOf(WILD)
  if (wild === -1) return text
  // Behind a wildcard nobody knows which folder `..` leads out of.
  if (text.slice(wild).includes('..')) return '/'
  const path = text.slice(0, wild).replace(/[^/]*$/, '')
  return path === '' ? '.' : path
}

/** Undefined if they are too many. */
const textsOfPattern = (pattern: string): readonly string[] | undefined => {
  const reader: Reader = { pattern, at: 0, isTooMany: false }
  const texts = readSequence(reader, '')
  return reader.isTooMany ? undefined : [...new Set(texts)]
}

interface Reader {
  readonly pattern: string
  at: number
  isTooMany: boolean
}

/** Reads up to one of the letters in `ends`, or to the end. */
const readSequence = (reader: Reader, ends: string): readonly string[] => {
  let texts: readonly string[] = ['']
  while (reader.at < reader.pattern.length && !ends.includes(reader.pattern.charAt(reader.at)))
    texts = joined(texts, readPart(reader), reader)
  return texts
}

const joined = (texts: readonly string[], parts: readonly string[], reader: Reader): readonly string[] => {
  if (texts.length * parts.length <= MOST) return texts.flatMap((text) => parts.map((part) => text + part))
  reader.isTooMany = true
  return texts
}

const readPart = (reader: Reader): readonly string[] => {
  const { pattern } = reader
  const letter = pattern.charAt(reader.at)
  const behind = pattern.charAt(reader.at + 1)
  if ('@+*?!'.includes(letter) && behind === '(') {
    reader.at += 1
    return repeated(letter, readGroup(reader, '|', ')'), reader)
  }
  if (letter === '{') return readGroup(reader, ',', '}')
  if (letter === '(') return readGroup(reader, '|', ')')
  if (letter === '[') return readClass(reader)
  reader.at += 1
  if (letter === '*' || letter === '?') return [WILD]
  if (letter !== '\\' || behind === '') return [letter]
  reader.at += 1
  return [behind]
}

/** A group that is never closed is read to the end. */
const readGroup = (reader: Reader, between: string, end: string): readonly string[] => {
  const texts: string[] = []
  do {
    reader.at += 1
    texts.push(...readSequence(reader, between + end))
  } while (reader.pattern.charAt(reader.at) === between)
  reader.at += 1
  if (texts.length > MOST) reader.isTooMany = true
  return texts
}

const repeated = (sign: string, texts: readonly string[], reader: Reader): readonly string[] => {
  switch (sign) {
    case '?':
      return ['', ...texts]
    case '+':
    case '*':
      return ['', ...texts, ...joined(texts, texts, reader), WILD]
    case '!':
      return [WILD, ...texts]
    default:
      return texts
  }
}

/** `[.]` is a dot. */
const readClass = (reader: Reader): readonly string[] => {
  const found = /^\[\\?(?<only>[^\]])\]|^\[[!^]?\]?[^\]/]*\]/.exec(reader.pattern.slice(reader.at))
  reader.at += found?.[0].length ?? 1
  return found === null ? ['['] : [found.groups?.['only'] ?? WILD]
}
