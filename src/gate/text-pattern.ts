/** A text with `*` (any characters, also none) and `?` (one character); `\` takes a special meaning away. */
export interface TextPattern {
  readonly text: string
  /** What every match starts with. */
  readonly prefix: string
  /** Without a wildcard, the prefix is the whole. */
  readonly isLiteral: boolean
  readonly matches: (text: string) => boolean
}

type Part = { readonly kind: 'run' } | { readonly kind: 'one' } | { readonly kind: 'character'; readonly character: string }

export const parseTextPattern = (text: string): TextPattern => {
  const parts = readParts(text)
  const wild = parts.findIndex(({ kind }) => kind !== 'character')
  const literals = (wild === -1 ? parts : parts.slice(0, wild)).map((part) => (part.kind === 'character' ? part.character : '')).join('')
  if (wild === -1) return { text, prefix: literals, isLiteral: true, matches: (candidate) => candidate === literals }
  // The most common pattern of all needs no walk.
  const isEverything = parts.every(({ kind }) => kind === 'run')
  return { text, prefix: literals, isLiteral: false, matches: (candidate) => isEverything || partsMatch(parts, candidate) }
}

const readParts = (text: string): readonly Part[] => {
  const parts: Part[] = []
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

// Going back to the latest run only is enough, and keeps the worst case at parts × characters.
const partsMatch = (parts: readonly Part[], text: string): boolean => {
  let part = 0
  let at = 0
  let run = -1
  let runTakesUntil = 0
  while (at < text.length) {
    const wanted = parts[part]
    if (wanted?.kind === 'run') {
      run = part
      runTakesUntil = at
      part += 1
    } else if (wanted !== undefined && (wanted.kind === 'one' || text.startsWith(wanted.character, at))) {
      part += 1
      at += wanted.kind === 'one' ? sizeAt(text, at) : wanted.character.length
    } else if (run !== -1) {
      runTakesUntil += 1
      at = runTakesUntil
      part = run + 1
    } else {
      return false
    }
  }
  return parts.slice(part).every(({ kind }) => kind === 'run')
}

/** A character beyond the first 65,536 takes two places in a string. */
const sizeAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
