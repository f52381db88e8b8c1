import type { GlobCharacter } from './glob-alternatives.js'

export type WildcardPart =
  | { readonly kind: 'character'; readonly character: string }
  /** One character in either case, where denials are matched. */
  | { readonly kind: 'letter'; readonly cases: readonly string[] }
  /** `?` */
  | { readonly kind: 'one' }
  /** `*` */
  | { readonly kind: 'run' }

/** What stands between two slashes of a glob. */
export type Segment =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'wildcard'; readonly parts: readonly WildcardPart[] }
  /** `**`: any number of whole names, also none; as the last segment at least one. */
  | { readonly kind: 'any-depth' }

export type ReadSegment =
  { readonly kind: 'segment'; readonly segment: Segment } | { readonly kind: 'problem'; readonly problem: string }

export const readSegment = (characters: readonly GlobCharacter[]): ReadSegment => {
  const isStar = ({ character, special }: GlobCharacter) => special && character === '*'
  if (characters.some(({ character, special }) => special && (character === '[' || character === ']'))) {
    return { kind: 'problem', problem: 'character classes are not supported; a literal bracket is written "\\["' }
  }
  if (characters.length === 2 && characters.every(isStar)) return { kind: 'segment', segment: { kind: 'any-depth' } }
  if (characters.some((character, at) => isStar(character) && at > 0 && characters.slice(at - 1, at).some(isStar))) {
    return { kind: 'problem', problem: '"**" must be a whole path segment, as in dir/**/name' }
  }
  const parts = characters.map(toPart)
  if (parts.some(({ kind }) => kind !== 'character')) return { kind: 'segment', segment: { kind: 'wildcard', parts } }
  return { kind: 'segment', segment: { kind: 'name', name: characters.map(({ character }) => character).join('') } }
}

const toPart = ({ character, special }: GlobCharacter): WildcardPart => {
  if (special && character === '*') return { kind: 'run' }
  if (special && character === '?') return { kind: 'one' }
  return { kind: 'character', character }
}

/** Whether one name, as found in a directory, fits a segment. Names starting with a dot are not special. */
export const segmentMatches = (segment: Segment, name: string): boolean => {
  switch (segment.kind) {
    case 'name':
      return segment.name === name
    case 'any-depth':
      return true
    case 'wildcard':
      return wildcardMatches(segment.parts, name)
  }
}

/** By whole characters. Going back to the latest run only is enough, and keeps the worst case at parts × characters. */
export const wildcardMatches = (parts: readonly WildcardPart[], text: string): boolean => {
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
    } else if (wanted !== undefined && takes(wanted, text, at)) {
      part += 1
      at += sizeAt(text, at)
    } else if (run !== -1) {
      runTakesUntil += sizeAt(text, runTakesUntil)
      at = runTakesUntil
      part = run + 1
    } else {
      return false
    }
  }
  return parts.slice(part).every(({ kind }) => kind === 'run')
}

const takes = (part: Exclude<WildcardPart, { kind: 'run' }>, text: string, at: number): boolean => {
  switch (part.kind) {
    case 'one':
      return true
    case 'character':
      return part.character.codePointAt(0) === text.codePointAt(at)
    case 'letter':
      return part.cases.some((character) => character.codePointAt(0) === text.codePointAt(at))
  }
}

/** The same segment for names in any case. Many servers find `/Admin` where `/admin` is asked for. */
export const inAnyCase = (segment: Segment): Segment => {
  if (segment.kind === 'any-depth') return segment
  const parts = (
    segment.kind === 'wildcard'
      ? segment.parts
      : Array.from(segment.name, (character): WildcardPart => ({ kind: 'character', character }))
  ).map(letterOf)
  return parts.some(({ kind }) => kind !== 'character') ? { kind: 'wildcard', parts } : segment
}

const letterOf = (part: WildcardPart): WildcardPart => {
  if (part.kind !== 'character') return part
  const { character } = part
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])].filter(
    (each) => Array.from(each).length === 1,
  )
  return cases.length === 1 ? part : { kind: 'letter', cases }
}

/** A character beyond the first 65,536 takes two places in a string. */
const sizeAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)

const ESCAPED = /[*?[\]{},~!\\]/g

/** A text as a glob that matches exactly that text. */
export const escapeGlob = (text: string): string => text.replace(ESCAPED, '\\$&')

export const renderSegment = (segment: Segment): string => {
  switch (segment.kind) {
    case 'name':
      return escapeGlob(segment.name)
    case 'any-depth':
      return '**'
    case 'wildcard':
      return segment.parts.map(renderPart).join('')
  }
}

const renderPart = (part: WildcardPart): string => {
  switch (part.kind) {
    case 'run':
      return '*'
    case 'one':
      return '?'
    case 'character':
      return escapeGlob(part.character)
    case 'letter':
      return `{${part.cases.map(escapeGlob).join(',')}}`
  }
}
