// Looks for all needles at once, in steps that are shorter than the shortest of them: whatever is there has at least
// one pair of bytes that is looked at. From that pair on it is compared in both directions. Most bytes are never looked
// at.
import { LONGEST_ESCAPE, UNFINISHED, escapeAt, isMarker, lengthOf, nestedEscapeAt, valueOf } from './escapes.js'
import type { Needle } from './match-needle.js'
import { MORE, longestSpelling, matchBackward, matchForward } from './match-needle.js'

/** What is searched for, made once for many streams. */
export interface NeedleSet {
  /** Those that all the others are spellings of. */
  readonly needles: readonly Needle[]
  /** From one pair that is looked at to the next. */
  readonly step: number
  /** Of any needle in any spelling. */
  readonly longest: number
  /** Bytes by which a needle begins. */
  readonly first: Uint8Array
  /** By two bytes: why to look closer. */
  readonly kinds: Uint8Array
  /** By two bytes: from where to where their anchors go. */
  readonly offsets: Uint32Array
  readonly anchors: readonly Anchor[]
}

/** A pair of bytes in a needle. */
interface Anchor {
  readonly needle: Needle
  readonly index: number
}

export interface Found {
  readonly start: number
  readonly end: number
}

/** What was found so far. */
interface Search {
  readonly found: Found[]
  /** Nothing follows these bytes. */
  readonly isLast: boolean
}

const IN_NEEDLE = 1
/** Part of an escape, or of a break between lines. */
const IN_ESCAPE = 2
/** Two digits, which may be those of `&#103;`. */
const DIGITS = 4
/** `n` or `r` and something else, which may be behind a broken line in JSON. */
const BEHIND_BREAK = 8

/** A blank and something else, which may be at the beginning of a broken line. */
const INDENTED = 16

const codesOf = (characters: string): readonly number[] =>
  Array.from(characters, (character) => character.charCodeAt(0))
const DECIMAL = codesOf('0123456789')
const HEX = codesOf('0123456789abcdefABCDEF')
const MARKERS = codesOf('%=\\&')
const BREAKS = codesOf('\r\n')

/** `spellings` are forms of the needles that are common; what they share with a needle is looked for once. */
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
  const first = new Uint8Array(256)
  for (const { bytes, fold } of needles)
    for (let byte = 0; byte < 256; byte++) if (fold[byte] === bytes[0]) first[byte] = 1
  return {
    needles,
    longest: Math.max(...needles.map(longestSpelling)),
    first,
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

/**
 * Less than the shortest needle. Where every character is an escape of three, four, five or six bytes, steps that share
 * no factor with these meet each of their bytes in turn, and so one by which the escape is recognised.
 */
const stepFor = (shortest: number): number => {
  for (let step = Math.min(shortest - 1, 1_000); step > 1; step--)
    if (step % 2 !== 0 && step % 3 !== 0 && (step % 5 !== 0 || step === 5)) return step
  return 1
}

/** Every needle that is there as a whole. */
export const searchNeedles = (bytes: Buffer, set: NeedleSet, isLast = false): readonly Found[] => {
  const { kinds, step } = set
  const found: Search = { found: [], isLast }
  const end = bytes.length
  for (let at = 1; at < end; at += step) {
    const pair = ((bytes[at - 1] as number) << 8) | (bytes[at] as number)
    const kind = kinds[pair] as number
    if (kind === 0) continue
    if ((kind & IN_NEEDLE) !== 0) fromPair(bytes, at, pair, set, found)
    if ((kind & INDENTED) !== 0) fromIndentation(bytes, at, set, found)
    if (
      (kind & IN_ESCAPE) !== 0 ||
      ((kind & DIGITS) !== 0 && (bytes[at - 2] === 0x23 || bytes[at - 3] === 0x23)) ||
      ((kind & BEHIND_BREAK) !== 0 && bytes[at - 2] === 0x5c)
    )
      fromEscape(bytes, at, set, found)
  }
  return found.found
}

/** What follows a pair decides nearly always, before anything else is compared. */
const fromPair = (bytes: Buffer, at: number, pair: number, set: NeedleSet, found: Search): void => {
  const { offsets, anchors } = set
  const next = at + 1 < bytes.length ? (bytes[at + 1] as number) : 0x0a
  const mayDiffer = isMarker[next] === 1 || next === 0x0a || next === 0x0d
  for (let each = offsets[pair] as number; each < (offsets[pair + 1] as number); each++) {
    const anchor = anchors[each] as Anchor
    const { bytes: wanted, fold } = anchor.needle
    const follows = anchor.index + 2
    if (
      follows >= wanted.length ||
      fold[next] === wanted[follows] ||
      (mayDiffer && mayFollow(bytes, at + 1, fold, wanted[follows] as number))
    )
      tryAnchor(bytes, at - 1, anchor.needle, anchor.index, found)
  }
}

/** Whether a marker or a break goes on with a character. */
const mayFollow = (bytes: Buffer, at: number, fold: Uint8Array, wanted: number): boolean => {
  if (at >= bytes.length || isMarker[bytes[at] as number] !== 1) return true
  const escape = escapeAt(bytes, at, bytes.length)
  if (
    escape !== 0 &&
    (escape === UNFINISHED ||
      escape >= 0x80 << 4 ||
      fold[escape >> 4] === wanted ||
      escape >> 4 === 10 ||
      escape >> 4 === 13)
  )
    return true
  const nested = nestedEscapeAt(bytes, at, bytes.length)
  return nested !== 0 && (nested === UNFINISHED || nested >= 0x80 << 4 || fold[nested >> 4] === wanted)
}

const tryAnchor = (bytes: Buffer, at: number, needle: Needle, index: number, found: Search): void => {
  // The character itself may be the end of an escape, as in \/.
  if (at > 0 && bytes[at - 1] === 0x5c) tryAt(bytes, at - 1, needle, index, found)
  tryAt(bytes, at, needle, index, found)
}

const tryAt = (bytes: Buffer, at: number, needle: Needle, index: number, found: Search): void => {
  const end = matchForward(bytes, at, needle, index, found.isLast)
  if (end <= 0) return
  const start = matchBackward(bytes, at, needle, index)
  if (start >= 0 && !found.found.some((other) => other.start === start && other.end === end))
    found.found.push({ start, end })
}

/**
 * From the escape or break at this pair: it and the next character are a pair of a needle, or it stands between two
 * such.
 */
const fromEscape = (bytes: Buffer, at: number, set: NeedleSet, found: Search): void => {
  const last = Math.max(0, at - LONGEST_ESCAPE)
  let from = at
  while (from > last && isMarker[bytes[from] as number] !== 1 && bytes[from] !== 0x0a && bytes[from] !== 0x0d) from--
  if (bytes[from] === 0x0a || bytes[from] === 0x0d) {
    fromBreak(bytes, from, set, found)
    return
  }
  fromMarker(bytes, from, at, set, found)
  // Of two backslashes the first begins an escape within a text that is escaped itself.
  if (bytes[from] === 0x5c && bytes[from - 1] === 0x5c) fromMarker(bytes, from - 1, at, set, found)
}

const fromMarker = (bytes: Buffer, from: number, at: number, set: NeedleSet, found: Search): void => {
  fromValue(bytes, from, escapeAt(bytes, from, bytes.length), at, set, found)
  fromValue(bytes, from, nestedEscapeAt(bytes, from, bytes.length), at, set, found)
}

const fromValue = (bytes: Buffer, from: number, escape: number, at: number, set: NeedleSet, found: Search): void => {
  if (escape <= 0) return
  const behind = from + (escape & 15)
  if (behind < at) return
  const value = escape >> 4
  if (value === 10 || value === 13 || value > 0xffff) fromBreak(bytes, from, set, found)
  else if (value < 256) fromUnit(bytes, from, value, behind, set, found)
}

/** A character that is known, at a place, and whatever follows it. */
const fromUnit = (bytes: Buffer, at: number, value: number, next: number, set: NeedleSet, found: Search): void => {
  if (next >= bytes.length) return
  const raw = bytes[next] as number
  fromValues(bytes, at, (value << 8) | raw, set, found)
  if (isMarker[raw] !== 1) return
  const escape = escapeAt(bytes, next, bytes.length)
  if (escape > 0 && escape < 4096) fromValues(bytes, at, (value << 8) | (escape >> 4), set, found)
  const nested = nestedEscapeAt(bytes, next, bytes.length)
  if (nested > 0 && nested < 4096) fromValues(bytes, at, (value << 8) | (nested >> 4), set, found)
}

const fromValues = (bytes: Buffer, at: number, pair: number, { offsets, anchors }: NeedleSet, found: Search): void => {
  for (let each = offsets[pair] as number; each < (offsets[pair + 1] as number); each++) {
    const { needle, index } = anchors[each] as Anchor
    tryAnchor(bytes, at, needle, index, found)
  }
}

const fromIndentation = (bytes: Buffer, at: number, set: NeedleSet, found: Search): void => {
  let from = at - 1
  while (from > 0 && at - from < MOST_BREAKS && (bytes[from] === 0x20 || bytes[from] === 0x09)) from--
  if (bytes[from] === 0x0a || bytes[from] === 0x0d) fromBreak(bytes, from, set, found)
}

const MOST_BREAKS = 24

/** From the character before a break, and the one behind it. */
const fromBreak = (bytes: Buffer, at: number, set: NeedleSet, found: Search): void => {
  let before = at - 1
  while (before >= 0 && at - before < MOST_BREAKS && (bytes[before] === 0x0a || bytes[before] === 0x0d)) before--
  if (before < 0) return
  let behind = at
  while (behind < bytes.length && behind - at < MOST_BREAKS) {
    const byte = bytes[behind] as number
    if (byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09) behind += 1
    else {
      const escape = isMarker[byte] === 1 ? escapeAt(bytes, behind, bytes.length) : 0
      if (escape <= 0 || (valueOf(escape) !== 10 && valueOf(escape) !== 13 && valueOf(escape) <= 0xffff)) break
      behind += lengthOf(escape)
    }
  }
  fromUnit(bytes, before, bytes[before] as number, behind, set, found)
}

/** Where the first needle begins whose rest may follow; the end where there is none. */
export const unfinishedAt = (bytes: Buffer, { needles, first, longest, kinds }: NeedleSet): number => {
  const end = bytes.length
  for (let at = earliest(bytes, kinds, Math.max(0, end - longest)); at < end; at++) {
    const byte = bytes[at] as number
    if (first[byte] !== 1 && isMarker[byte] !== 1) continue
    if (first[byte] !== 1) {
      const [escape, nested] = [escapeAt(bytes, at, end), nestedEscapeAt(bytes, at, end)]
      if (escape !== UNFINISHED && nested !== UNFINISHED && !mayBegin(escape, first) && !mayBegin(nested, first))
        continue
    }
    for (const needle of needles) if (matchForward(bytes, at, needle, 0) === MORE) return at
  }
  return end
}

/**
 * Every pair of a needle is known, or near the beginning of an escape: where that ends, going back, none can begin
 * before.
 */
const earliest = (bytes: Buffer, kinds: Uint8Array, lowest: number): number => {
  let at = bytes.length - 1
  while (
    at > lowest &&
    (kinds[((bytes[at - 1] as number) << 8) | (bytes[at] as number)] !== 0 || isNearMarker(bytes, at))
  )
    at--
  return Math.max(at, lowest)
}

const isNearMarker = (bytes: Buffer, at: number): boolean => {
  for (let near = at; near >= Math.max(0, at - LONGEST_ESCAPE); near--)
    if (isMarker[bytes[near] as number] === 1) return true
  return false
}

/** Characters beyond ASCII are looked at in any case. */
const mayBegin = (escape: number, first: Uint8Array): boolean =>
  escape > 0 && (escape >= 0x80 << 4 || first[escape >> 4] === 1)
