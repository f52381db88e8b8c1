// Searches for all needles at once, in steps shorter than the shortest needle. So at least one pair of bytes of each
// needle is looked at, and compared from there in both directions. Most bytes are never looked at.
import { LONGEST_ESCAPE, UNFINISHED, escapeAt, isMarker, lengthOf, nestedEscapeAt, valueOf } from './escapes.js'
import type { Needle } from './match-needle.js'
import { longestSpelling, matchBackward, matchForward } from './match-needle.js'

export interface NeedleSet {
  /** The distance between pairs that are looked at. */
  readonly step: number
  /** No spelling of a needle is longer. The same for nearly all secrets, so that it says nothing about this one. */
  readonly span: number
  /** By pair: why to look closer. */
  readonly kinds: Uint8Array
  /** By pair: where its anchors begin. */
  readonly offsets: Uint32Array
  readonly anchors: readonly Anchor[]
}

/** A pair of bytes in a needle. */
interface Anchor {
  readonly needle: Needle
  readonly index: number
}

export interface Match {
  readonly start: number
  readonly end: number
}

interface Search {
  readonly bytes: Buffer
  readonly set: NeedleSet
  readonly found: Match[]
  /** No more bytes follow. */
  readonly isLast: boolean
}

const IN_NEEDLE = 1
/** Part of an escape, or of a break between lines. */
const IN_ESCAPE = 2
/** Two digits, perhaps of `&#103;`. */
const DIGITS = 4
/** `n` or `r` and another byte, perhaps after a line break in JSON. */
const BEHIND_BREAK = 8

/** A blank and another byte, perhaps at the start of a broken line. */
const INDENTED = 16

const codesOf = (characters: string): readonly number[] =>
  Array.from(characters, (character) => character.charCodeAt(0))
const DECIMAL = codesOf('0123456789')
const HEX = codesOf('0123456789abcdefABCDEF')
const MARKERS = codesOf('%=\\&')
const BREAKS = codesOf('\r\n')

/** `spellings`: common forms of the needles. Their shared pairs are searched once. */
export const compileNeedles = (all: readonly Needle[], spellings: readonly Needle[] = []): NeedleSet | undefined => {
  const needles = all.filter(({ bytes }) => bytes.length > 1)
  if (needles.length === 0) return undefined
  const byPair = new Map<number, Anchor[]>()
  for (const needle of needles) addPairs(byPair, needle, () => true)
  const known = new Set(byPair.keys())
  for (const needle of spellings) if (needle.bytes.length > 1) addPairs(byPair, needle, (pair) => !known.has(pair))

  const kinds = new Uint8Array(65_536)
  const mark = (ones: readonly number[], others: readonly number[], kind: number): void => {
    for (const one of ones)
      for (const other of others) kinds[(one << 8) | other] = (kinds[(one << 8) | other] as number) | kind
  }
  const used = [
    ...new Set(
      needles.flatMap(({ bytes, fold }) =>
        Array.from(fold.keys()).filter((byte) => bytes.includes(fold[byte] as number)),
      ),
    ),
  ]
  mark(codesOf('%='), HEX, IN_ESCAPE)
  mark(HEX, MARKERS, IN_ESCAPE)
  mark(codesOf('\\'), codesOf('ux0123nr'), IN_ESCAPE)
  mark(codesOf('u'), codesOf('0'), IN_ESCAPE)
  mark(codesOf('xX'), HEX, IN_ESCAPE)
  mark(codesOf('&'), codesOf('#'), IN_ESCAPE)
  mark(codesOf('#'), [...DECIMAL, ...codesOf('xX')], IN_ESCAPE)
  mark(codesOf(';'), codesOf('&'), IN_ESCAPE)
  mark(HEX, codesOf(';'), IN_ESCAPE)
  mark([...used, ...BREAKS], BREAKS, IN_ESCAPE)
  mark(BREAKS, used, IN_ESCAPE)
  mark(used, codesOf('\\='), IN_ESCAPE)
  mark(DECIMAL, DECIMAL, DIGITS)
  mark(codesOf('nr'), used, BEHIND_BREAK)
  mark([...codesOf(' \t'), ...BREAKS], [...used, ...codesOf(' \t')], INDENTED)
  for (const pair of byPair.keys()) kinds[pair] = (kinds[pair] as number) | IN_NEEDLE

  const offsets = new Uint32Array(65_537)
  const anchors: Anchor[] = []
  for (let pair = 0; pair < 65_536; pair++) {
    anchors.push(...(byPair.get(pair) ?? []))
    offsets[pair + 1] = anchors.length
  }
  return {
    span: spanFor(Math.max(...needles.map(longestSpelling))),
    step: stepFor(Math.min(...needles.map(({ bytes }) => bytes.length))),
    kinds,
    offsets,
    anchors,
  }
}

const addPairs = (byPair: Map<number, Anchor[]>, needle: Needle, isWanted: (pair: number) => boolean): void => {
  const { bytes, fold } = needle
  const spelled = Array.from({ length: 256 }, () => [] as number[])
  for (let byte = 0; byte < 256; byte++) spelled[fold[byte] as number]?.push(byte)
  for (let index = 0; index + 1 < bytes.length; index++) {
    for (const one of spelled[bytes[index] as number] ?? []) {
      for (const other of spelled[bytes[index + 1] as number] ?? []) {
        const pair = (one << 8) | other
        if (!isWanted(pair)) continue
        const anchors = byPair.get(pair)
        if (anchors === undefined) byPair.set(pair, [{ needle, index }])
        else anchors.push({ needle, index })
      }
    }
  }
}

/** A power of two. */
const spanFor = (longest: number): number => 2 ** Math.ceil(Math.log2(Math.max(longest + 2 * LONGEST_ESCAPE, 4_096)))

/**
 * Less than the shortest needle. If every character is an escape of three to six bytes, a step that shares no factor
 * with these meets each of its bytes in turn, and so one that identifies the escape.
 */
const stepFor = (shortest: number): number => {
  for (let step = Math.min(shortest - 1, 1_000); step > 1; step--)
    if (step % 2 !== 0 && step % 3 !== 0 && (step % 5 !== 0 || step === 5)) return step
  return 1
}

export const searchNeedles = (bytes: Buffer, set: NeedleSet, isLast = false): readonly Match[] => {
  const { kinds, step } = set
  const search: Search = { bytes, set, found: [], isLast }
  const end = bytes.length
  for (let at = 1; at < end; at += step) {
    const pair = ((bytes[at - 1] as number) << 8) | (bytes[at] as number)
    const kind = kinds[pair] as number
    if (kind === 0) continue
    if ((kind & IN_NEEDLE) !== 0) fromPair(search, at, pair)
    if ((kind & INDENTED) !== 0) fromIndentation(search, at)
    if (
      (kind & IN_ESCAPE) !== 0 ||
      ((kind & DIGITS) !== 0 && (bytes[at - 2] === 0x23 || bytes[at - 3] === 0x23)) ||
      ((kind & BEHIND_BREAK) !== 0 && bytes[at - 2] === 0x5c)
    )
      fromEscape(search, at)
  }
  return search.found
}

/** The byte after a pair nearly always decides. */
const fromPair = (search: Search, at: number, pair: number): void => {
  const { bytes, set } = search
  const { offsets, anchors } = set
  const next = at + 1 < bytes.length ? (bytes[at + 1] as number) : 0x0a
  const mayDiffer = isMarker[next] === 1 || isLineEnd(next)
  for (let each = offsets[pair] as number; each < (offsets[pair + 1] as number); each++) {
    const anchor = anchors[each] as Anchor
    const { bytes: wanted, fold } = anchor.needle
    const follows = anchor.index + 2
    if (
      follows >= wanted.length ||
      fold[next] === wanted[follows] ||
      (mayDiffer && mayFollow(bytes, at + 1, fold, wanted[follows] as number))
    )
      tryAnchor(search, at - 1, anchor)
  }
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d

/** Whether a marker or a break can continue with a character. */
const mayFollow = (bytes: Buffer, at: number, fold: Uint8Array, wanted: number): boolean => {
  if (at >= bytes.length || isMarker[bytes[at] as number] !== 1) return true
  const isWanted = (escape: number): boolean =>
    escape !== 0 && (escape === UNFINISHED || escape >= 0x80 << 4 || fold[valueOf(escape)] === wanted)
  const escape = escapeAt(bytes, at, bytes.length)
  return isWanted(escape) || isLineEnd(valueOf(escape)) || isWanted(nestedEscapeAt(bytes, at, bytes.length))
}

const tryAnchor = (search: Search, at: number, anchor: Anchor): void => {
  // The character may end an escape, as in \/.
  if (at > 0 && search.bytes[at - 1] === 0x5c) tryAt(search, at - 1, anchor)
  tryAt(search, at, anchor)
}

const tryAt = ({ bytes, found, isLast }: Search, at: number, { needle, index }: Anchor): void => {
  const end = matchForward(bytes, at, needle, index, isLast)
  if (end <= 0) return
  const start = matchBackward(bytes, at, needle, index)
  if (start >= 0 && !found.some((other) => other.start === start && other.end === end)) found.push({ start, end })
}

/**
 * Starts at the escape or break at this pair: with the next character it is a pair of a needle, or it lies between two
 * such.
 */
const fromEscape = (search: Search, at: number): void => {
  const { bytes } = search
  const last = Math.max(0, at - LONGEST_ESCAPE)
  let from = at
  while (from > last && isMarker[bytes[from] as number] !== 1 && !isLineEnd(bytes[from])) from--
  if (isLineEnd(bytes[from])) {
    fromBreak(search, from)
    return
  }
  fromMarker(search, from, at)
  // The first of two backslashes begins an escape in escaped text.
  if (bytes[from] === 0x5c && bytes[from - 1] === 0x5c) fromMarker(search, from - 1, at)
}

const fromMarker = (search: Search, from: number, at: number): void => {
  const { bytes } = search
  fromValue(search, from, escapeAt(bytes, from, bytes.length), at)
  fromValue(search, from, nestedEscapeAt(bytes, from, bytes.length), at)
}

const fromValue = (search: Search, from: number, escape: number, at: number): void => {
  if (escape <= 0) return
  const behind = from + lengthOf(escape)
  if (behind < at) return
  const value = valueOf(escape)
  if (isLineEnd(value) || value > 0xffff) fromBreak(search, from)
  else if (value < 256) fromUnit(search, from, value, behind)
}

/** A known character and the one after it. */
const fromUnit = (search: Search, at: number, value: number, next: number): void => {
  const { bytes } = search
  if (next >= bytes.length) return
  const raw = bytes[next] as number
  fromValues(search, at, (value << 8) | raw)
  if (isMarker[raw] !== 1) return
  const escape = escapeAt(bytes, next, bytes.length)
  if (escape > 0 && escape < 4096) fromValues(search, at, (value << 8) | valueOf(escape))
  const nested = nestedEscapeAt(bytes, next, bytes.length)
  if (nested > 0 && nested < 4096) fromValues(search, at, (value << 8) | valueOf(nested))
}

const fromValues = (search: Search, at: number, pair: number): void => {
  const { offsets, anchors } = search.set
  for (let each = offsets[pair] as number; each < (offsets[pair + 1] as number); each++)
    tryAnchor(search, at, anchors[each] as Anchor)
}

const fromIndentation = (search: Search, at: number): void => {
  const { bytes } = search
  let from = at - 1
  while (from > 0 && at - from < MOST_BREAKS && (bytes[from] === 0x20 || bytes[from] === 0x09)) from--
  if (isLineEnd(bytes[from])) fromBreak(search, from)
}

const MOST_BREAKS = 24

/** Starts with the characters before and after a break. */
const fromBreak = (search: Search, at: number): void => {
  const { bytes } = search
  let before = at - 1
  while (before >= 0 && at - before < MOST_BREAKS && isLineEnd(bytes[before])) before--
  if (before < 0) return
  let behind = at
  while (behind < bytes.length && behind - at < MOST_BREAKS) {
    const byte = bytes[behind] as number
    if (isLineEnd(byte) || byte === 0x20 || byte === 0x09) behind += 1
    else {
      const escape = isMarker[byte] === 1 ? escapeAt(bytes, behind, bytes.length) : 0
      if (escape <= 0 || (!isLineEnd(valueOf(escape)) && valueOf(escape) <= 0xffff)) break
      behind += lengthOf(escape)
    }
  }
  fromUnit(search, before, bytes[before] as number, behind)
}
