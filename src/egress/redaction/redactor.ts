import type { Found, NeedleSet } from './needle-search.js'
import { searchNeedles, unfinishedAt } from './needle-search.js'

/** Covers needles in a stream byte for byte, so that no length changes. */
export interface Redactor {
  /** The bytes that can be passed on: all but the start of a possible needle. */
  readonly push: (chunk: Buffer) => Buffer
  readonly end: () => Buffer
  readonly count: () => number
}

const COVER = 0x2a
const EMPTY: Buffer = Buffer.alloc(0)

export const createRedactor = (set: NeedleSet): Redactor => {
  /** Uncovered, because it is searched again with the next bytes. */
  let held: Buffer = EMPTY
  /** How much of `held` belongs to a needle that begins before it. */
  let heldCovered = 0
  let count = 0

  const cover = (bytes: Buffer, found: readonly Found[]): Buffer => {
    if (heldCovered === 0 && found.length === 0) return bytes
    const covered = Buffer.from(bytes)
    covered.fill(COVER, 0, heldCovered)
    for (const { start, end } of found) covered.fill(COVER, start, end)
    return covered
  }
  const hold = (bytes: Buffer, from: number): void => {
    held = from === bytes.length ? EMPTY : Buffer.from(bytes.subarray(from))
  }
  const push = (chunk: Buffer): Buffer => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const found = searchNeedles(bytes, set)
    const ready = unfinishedAt(bytes, set)
    // Nearly always nothing has to be covered, and the bytes are passed on without a copy.
    if (found.length === 0 && heldCovered === 0) {
      hold(bytes, ready)
      return bytes.subarray(0, ready)
    }
    count += found.filter(({ end }) => end > held.length).length
    const result = cover(bytes, found).subarray(0, ready)
    heldCovered = Math.max(
      heldCovered - ready,
      ...found.filter(({ start }) => start < ready).map(({ end }) => end - ready),
      0,
    )
    hold(bytes, ready)
    return result
  }
  const end = (): Buffer => {
    const last = searchNeedles(held, set, true)
    count += last.length
    const rest = cover(held, last)
    held = EMPTY
    heldCovered = 0
    return rest
  }
  return { push, end, count: () => count }
}

export const redactText = (needles: NeedleSet, text: string): { readonly text: string; readonly count: number } => {
  const redactor = createRedactor(needles)
  const covered = Buffer.concat([redactor.push(Buffer.from(text, 'latin1')), redactor.end()])
  return redactor.count() === 0 ? { text, count: 0 } : { text: covered.toString('latin1'), count: redactor.count() }
}
