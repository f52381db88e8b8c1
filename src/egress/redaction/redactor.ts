/** Finds needles in a stream and covers them, byte for byte, so that no length changes. */
export interface Redactor {
  /** What can be passed on by now: all but the beginning of something that may become a needle. */
  readonly push: (chunk: Buffer) => Buffer
  readonly end: () => Buffer
  readonly count: () => number
}

/** The automaton of Aho and Corasick, as one table: made once for many streams. */
export interface NeedleSet {
  /** By state and byte: the next state. */
  readonly next: Int32Array
  /** By state: how many bytes have been seen of the longest needle that may be under way. */
  readonly depth: Int32Array
  /** By state: the longest needle that ends here, or 0. */
  readonly ends: Int32Array
}

const COVER = 0x2a

export const compileNeedles = (needles: readonly Buffer[]): NeedleSet | undefined => {
  const known = needles.filter(({ length }) => length > 0)
  if (known.length === 0) return undefined
  const states = known.reduce((sum, { length }) => sum + length, 1)
  const next = new Int32Array(states * 256)
  const depth = new Int32Array(states)
  const ends = new Int32Array(states)
  let count = 1
  for (const needle of known) {
    let state = 0
    for (const byte of needle) {
      const at = state * 256 + byte
      if (next[at] === 0) {
        depth[count] = (depth[state] ?? 0) + 1
        next[at] = count++
      }
      state = next[at] ?? 0
    }
    ends[state] = needle.length
  }
  completeTransitions(next, ends, count)
  return { next: next.subarray(0, count * 256), depth, ends }
}

/** Gives every state a transition for every byte, so that a stream is walked without ever going back. */
const completeTransitions = (next: Int32Array, ends: Int32Array, count: number): void => {
  const fallback = new Int32Array(count)
  const queue: number[] = []
  for (let byte = 0; byte < 256; byte++) if (next[byte] !== 0) queue.push(next[byte] ?? 0)
  for (let at = 0; at < queue.length; at++) {
    const state = queue[at] ?? 0
    const back = fallback[state] ?? 0
    // A needle within a needle ends here, too; the longer one covers more.
    ends[state] = Math.max(ends[state] ?? 0, ends[back] ?? 0)
    for (let byte = 0; byte < 256; byte++) {
      const following = next[state * 256 + byte] ?? 0
      if (following === 0) {
        next[state * 256 + byte] = next[back * 256 + byte] ?? 0
      } else {
        fallback[following] = next[back * 256 + byte] ?? 0
        queue.push(following)
      }
    }
  }
}

const EMPTY = Buffer.alloc(0)

export const createRedactor = ({ next, depth, ends }: NeedleSet): Redactor => {
  let state = 0
  let held: Buffer = EMPTY
  let count = 0
  const push = (chunk: Buffer): Buffer => {
    let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    let isOurs = held.length > 0
    for (let at = held.length; at < bytes.length; at++) {
      state = next[state * 256 + (bytes[at] as number)] as number
      const length = ends[state] as number
      if (length === 0) continue
      if (!isOurs) bytes = Buffer.from(bytes)
      isOurs = true
      bytes.fill(COVER, Math.max(0, at + 1 - length), at + 1)
      count++
    }
    // What is covered already can go, whatever it may become a part of.
    const ready = ends[state] === depth[state] ? bytes.length : bytes.length - (depth[state] as number)
    held = ready === bytes.length ? EMPTY : Buffer.from(bytes.subarray(ready))
    return bytes.subarray(0, ready)
  }
  const end = (): Buffer => {
    const rest = held
    held = EMPTY
    state = 0
    return rest
  }
  return { push, end, count: () => count }
}

/** Of a text that is known as a whole. */
export const redactText = (needles: NeedleSet, text: string): { readonly text: string; readonly count: number } => {
  const redactor = createRedactor(needles)
  const covered = Buffer.concat([redactor.push(Buffer.from(text, 'latin1')), redactor.end()])
  return redactor.count() === 0 ? { text, count: 0 } : { text: covered.toString('latin1'), count: redactor.count() }
}
