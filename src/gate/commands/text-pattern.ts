import { wildcardMatches } from '../../policy/index.js'
import type { WildcardPart } from '../../policy/index.js'

/** A text with `*` (any characters, also none) and `?` (one character); `\` takes a special meaning away. */
export interface TextPattern {
  readonly text: string
  /** What every match starts with. */
  readonly prefix: string
  /** Without a wildcard, the prefix is the whole. */
  readonly isLiteral: boolean
  readonly matches: (text: string) => boolean
}

export const parseTextPattern = (text: string): TextPattern => {
  const parts = readParts(text)
  const wild = parts.findIndex(({ kind }) => kind !== 'character')
  const literals = (wild === -1 ? parts : parts.slice(0, wild))
    .map((part) => (part.kind === 'character' ? part.character : ''))
    .join('')
  if (wild === -1) return { text, prefix: literals, isLiteral: true, matches: (candidate) => candidate === literals }
  // The most common pattern of all needs no walk.
  const isEverything = parts.every(({ kind }) => kind === 'run')
  return {
    text,
    prefix: literals,
    isLiteral: false,
    matches: (candidate) => isEverything || wildcardMatches(parts, candidate),
  }
}

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
