import type { Cuts } from './cuts.js'
import type { Match, NeedleSet } from './needle-search.js'
import { searchNeedles } from './needle-search.js'

/**
 * Covers needles in a stream byte for byte, so that no length changes. What is held back depends on the lengths and
 * the public text of the stream, never on the needles.
 */
export interface Redactor {
  /** The bytes that can be passed on. */
  readonly push: (chunk: Buffer) => Buffer
  /** Whether a pause of the server may let more bytes pass. */
  readonly isHolding: () => boolean
  /** The bytes that can be passed on because the server pauses. */
  readonly pause: () => Buffer
  readonly end: () => Buffer
  readonly count: () => number
}

const COVER = 0x2a
const EMPTY: Buffer = Buffer.alloc(0)

export const createRedactor = (set: NeedleSet, cuts: Cuts): Redactor => {
  /** Uncovered, because it is searched with the next bytes. */
  let held: Buffer[] = []
  let size = 0
  /** How much of it was searched before, and how much belongs to a needle that begins before it. */
  let [searched, covered] = [0, 0]
  /** Where it begins in its block. */
  let offset = 0
  let count = 0

  const cover = (bytes: Buffer, found: readonly Match[]): Buffer => {
    // Nearly always nothing has to be covered, and the bytes are passed on without a copy.
    if (covered === 0 && found.length === 0) return bytes
    const result = Buffer.from(bytes)
    result.fill(COVER, 0, covered)
    for (const { start, end } of found) result.fill(COVER, start, end)
    return result
  }
  const joined = (): Buffer => {
    const [first] = held
    return held.length === 1 && first !== undefined ? first : Buffer.concat(held, size)
  }
  /** Searches the first `known` bytes, and gives out the first `ready` of them. `isWhole`: no needle goes on there. */
  const release = (known: number, ready: number, isWhole: boolean): Buffer => {
    if (ready <= 0) return EMPTY
    const bytes = joined()
    const found = searchNeedles(bytes.subarray(0, known), set, isWhole)
    count += found.filter(({ end }) => end > searched).length
    const result = cover(bytes, found).subarray(0, ready)
    covered = Math.max(covered - ready, ...found.filter(({ start }) => start < ready).map(({ end }) => end - ready), 0)
    searched = Math.max(searched, known) - ready
    size -= ready
    offset = (offset + ready) % cuts.block
    held = size === 0 ? [] : [Buffer.from(bytes.subarray(ready))]
    return result
  }
  const inBlocks = (end: number): number => end - ((offset + end) % cuts.block)
  return {
    push: (chunk) => {
      const last = cuts.lastIn(chunk)
      held.push(chunk)
      size += chunk.length
      const known = last === 0 ? 0 : size - chunk.length + last
      // In steps as long as the rest, so that few bytes are searched more than twice.
      return size - known < 2 * set.span
        ? release(known, inBlocks(known), true)
        : release(size, inBlocks(size - set.span), false)
    },
    isHolding: () => size > 0,
    pause: () => {
      const end = size === 0 ? 0 : cuts.afterPause(joined())
      return release(end, end, true)
    },
    end: () => release(size, size, true),
    count: () => count,
  }
}

export const redactNeedles = (set: NeedleSet, text: string): { readonly text: string; readonly count: number } => {
  const bytes = Buffer.from(text, 'latin1')
  const found = searchNeedles(bytes, set, true)
  for (const { start, end } of found) bytes.fill(COVER, start, end)
  return found.length === 0 ? { text, count: 0 } : { text: bytes.toString('latin1'), count: found.length }
}
