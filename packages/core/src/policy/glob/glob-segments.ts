// The segments of a glob, which are the parts between its slashes: read, matched and rendered.
import { isSpecial } from './glob-alternatives.js'
import type { GlobCharacter, Reject } from './glob-alternatives.js'

export type WildcardPart =
  | { readonly kind: 'character'; readonly character: string }
  /** One letter in either case, for denials. */
  | { readonly kind: 'letter'; readonly cases: readonly string[] }
  /** `?` */
  | { readonly kind: 'one' }
  /** `*` */
  | { readonly kind: 'run' }

export type Segment =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'wildcard'; readonly parts: readonly WildcardPart[] }
  /** `**`: any number of whole names, or none. As the last segment at least one. */
  | { readonly kind: 'any-depth' }

export const readSegment = (characters: readonly GlobCharacter[], reject: Reject): Segment => {
  const isStarAt = (at: number) => isSpecial(characters[at], '*')
  if (characters.some((one) => isSpecial(one, '[') || isSpecial(one, ']')))
    throw reject('character classes are not supported; a literal bracket is written "\\["')
  if (characters.length === 2 && isStarAt(0) && isStarAt(1)) return { kind: 'any-depth' }
  if (characters.some((_, at) => isStarAt(at) && isStarAt(at - 1)))
    throw reject('"**" must be a whole path segment, as in dir/**/name')
  const parts = characters.map(toPart)
  return parts.some(({ kind }) => kind !== 'character')
    ? { kind: 'wildcard', parts }
    : { kind: 'name', name: characters.map(({ character }) => character).join('') }
}

const toPart = (one: GlobCharacter): WildcardPart => {
  if (isSpecial(one, '*')) return { kind: 'run' }
  if (isSpecial(one, '?')) return { kind: 'one' }
  return { kind: 'character', character: one.character }
}

/** Whether one name of a directory fits a segment. Names that start with a dot are not special. */
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

/** By whole characters. It goes back to the latest run only, so the worst case is parts × characters. */
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
  const isHere = (character: string) => character.codePointAt(0) === text.codePointAt(at)
  return part.kind === 'one' || (part.kind === 'letter' ? part.cases.some(isHere) : isHere(part.character))
}

/** The same segment for names in any case. Many servers return `/Admin` for `/admin`. */
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

/** The glob that matches exactly this text. */
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
