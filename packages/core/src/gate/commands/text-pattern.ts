import { wildcardMatches } from '../../policy/index.js'
import type { WildcardPart } from '../../policy/index.js'

/** A text with `*` (any characters, or none) and `?` (one character). `\` escapes them. */
export interface TextPattern {
  /** As written. */
  readonly written: string
  /** The texts between the wildcards. Every match contains them. */
  readonly runs: readonly string[]
  /** There is no wildcard, so the only run is the whole text. */
  readonly isLiteral: boolean
  readonly matches: (text: string) => boolean
}

export const parseTextPattern = (text: string): TextPattern => {
  const parts = readParts(text)
  const [first = '', ...later] = runsOf(parts)
  if (later.length === 0)
    return { written: text, runs: [first], isLiteral: true, matches: (candidate) => candidate === first }
  // `*` is the most common pattern, and needs no walk.
  const isEverything = parts.every(({ kind }) => kind === 'run')
  return {
    written: text,
    runs: [first, ...later],
    isLiteral: false,
    matches: (candidate) => isEverything || wildcardMatches(parts, candidate),
  }
}

const runsOf = (parts: readonly WildcardPart[]): readonly string[] =>
  parts.reduce<string[]>(
    (runs, part) =>
      part.kind === 'character' ? [...runs.slice(0, -1), `${runs.at(-1) ?? ''}${part.character}`] : [...runs, ''],
    [''],
  )

const readParts = (text: string): readonly WildcardPart[] => {
  const parts: WildcardPart[] = []
  let isEscaped = false
  for (const character of text) {
    if (isEscaped) parts.push({ kind: 'character', character })
    else if (character === '*') parts.push({ kind: 'run' })
    else if (character === '?') parts.push({ kind: 'one' })
    else if (character !== '\\') parts.push({ kind: 'character', character })
    isEscaped = character === '\\' && !isEscaped
  }
  if (isEscaped) parts.push({ kind: 'character', character: '\\' })
  return parts
}
