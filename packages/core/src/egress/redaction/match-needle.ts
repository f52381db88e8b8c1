// Compares a needle with the bytes at a place, each character in any spelling.
import {
  LONGEST_ESCAPE,
  SOFT_BREAK,
  UNFINISHED,
  escapeAt,
  isMarker,
  lengthOf,
  nestedEscapeAt,
  valueOf,
} from './escapes.js'

/** A value, also in hexadecimal or base64. */
export interface Needle {
  readonly bytes: Buffer
  /** Maps bytes that count as the same: the alphabet of URLs, or upper case. */
  readonly fold: Uint8Array
  /** Lines may be broken within it. */
  readonly breaks: boolean
  /** Its characters may be escaped. Otherwise the needle contains its own escapes. */
  readonly escapes: boolean
}

export const NOT_THERE = -1
/** `\\u0041`, in a text within a text. */
const USUAL_ESCAPE = 7

/** The longest spelling of a needle that is understood. */
export const longestSpelling = ({ bytes }: Needle): number => bytes.length * USUAL_ESCAPE

/** The end of a needle whose characters from `index` on begin at `from`. `isLast`: no more bytes follow. */
export const matchForward = (bytes: Buffer, from: number, needle: Needle, index: number, isLast = false): number => {
  const { bytes: wanted, fold, breaks, escapes } = needle
  const end = bytes.length
  const furthest = from + longestSpelling(needle)
  let at = from
  for (let next = index; next < wanted.length;) {
    if (at >= end || at >= furthest) return NOT_THERE
    const byte = bytes[at] as number
    if (escapes && isMarker[byte] === 1) {
      const [escape, nested] = [escapeAt(bytes, at, end), nestedEscapeAt(bytes, at, end)]
      // The longer reading first: a doubly escaped backslash begins like a simply escaped one.
      if (!isLast && (escape === UNFINISHED || nested === UNFINISHED)) return NOT_THERE
      let length = lengthOf(nested)
      let taken = nested > 0 ? takenBy(needle, next, valueOf(nested)) : 0
      if (taken === 0 && escape > 0) [taken, length] = [takenBy(needle, next, valueOf(escape)), lengthOf(escape)]
      const isBroken = taken === 0 && escape > 0 && fold[byte] !== wanted[next] && isBreak(valueOf(escape), breaks)
      if (taken > 0 || isBroken) {
        next += taken
        at += length
        continue
      }
    }
    if (fold[byte] === wanted[next]) next++
    else if (!(
      breaks &&
      (byte === 0x0a || byte === 0x0d || ((byte === 0x20 || byte === 0x09) && isIndented(bytes, at)))
    ))
      return NOT_THERE
    at++
  }
  return at
}

/** The start of a needle whose characters before `index` end at `to`. */
export const matchBackward = (bytes: Buffer, to: number, needle: Needle, index: number): number => {
  const { bytes: wanted, fold, breaks } = needle
  let at = to
  for (let next = index; next > 0;) {
    if (at <= 0) return NOT_THERE
    const byte = bytes[at - 1] as number
    const [length, taken] = needle.escapes ? escapeBefore(bytes, at, needle, next) : NOTHING
    if (length > 0) {
      next -= taken
      at -= length
      continue
    }
    if (fold[byte] === wanted[next - 1]) next--
    else if (!(breaks && (byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09))) return NOT_THERE
    at--
  }
  return at
}

const NOTHING = [0, 0] as const

/** The escape that ends at `to` and matches the needle: its length, and how many bytes it matches. */
const escapeBefore = (bytes: Buffer, to: number, needle: Needle, index: number): readonly [number, number] => {
  for (let length = LONGEST_ESCAPE; length >= 2; length--) {
    const at = to - length
    if (at < 0 || isMarker[bytes[at] as number] !== 1) continue
    for (const escape of [escapeAt(bytes, at, bytes.length), nestedEscapeAt(bytes, at, bytes.length)]) {
      if (escape <= 0 || lengthOf(escape) !== length) continue
      const value = valueOf(escape)
      if (isBreak(value, needle.breaks)) return [length, 0]
      for (let count = 1; count <= Math.min(4, index); count++)
        if (takenBy(needle, index - count, value) === count) return [length, count]
    }
  }
  return NOTHING
}

const takenBy = ({ bytes: wanted, fold }: Needle, next: number, value: number): number => {
  if (value < 256 && fold[value] === wanted[next]) return 1
  if (value < 0x80 || value >= SOFT_BREAK) return 0
  const more = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3
  // In UTF-8 the first byte says how many follow, with six bits each.
  if (wanted[next] !== (((0xff00 >> (more + 1)) & 0xff) | (value >> (6 * more)))) return 0
  for (let left = more - 1; left >= 0; left--)
    if (wanted[next + more - left] !== (0x80 | ((value >> (6 * left)) & 0x3f))) return 0
  return more + 1
}

const isBreak = (value: number, breaks: boolean): boolean =>
  value === SOFT_BREAK || (breaks && (value === 10 || value === 13))

const DEEPEST_INDENTATION = 16

/** Blanks at the beginning of a line. */
const isIndented = (bytes: Buffer, from: number): boolean => {
  for (let at = from - 1; at >= Math.max(0, from - DEEPEST_INDENTATION); at--) {
    const byte = bytes[at]
    if (byte === 0x0a || byte === 0x0d) return true
    if (byte !== 0x20 && byte !== 0x09) return bytes[at - 1] === 0x5c && (byte === 0x6e || byte === 0x72)
  }
  return false
}
