/** Finds needles in a stream and covers them, byte for byte, so that no length changes. */
export interface Redactor {
  /** What can be passed on by now: all but the beginning of something that may become a needle. */
  readonly push: (chunk: Buffer) => Buffer
  readonly end: () => Buffer
  readonly count: () => number
}

/** What is searched for, made once for many streams. */
export interface NeedleSet {
  readonly needles: readonly Buffer[]
  readonly shortest: number
  readonly longest: number
  /** By two bytes: how far behind them the end of a shortest needle can be at the earliest (Wu and Manber). */
  readonly shift: Uint8Array
}

const COVER = 0x2a
const EMPTY: Buffer = Buffer.alloc(0)

export const compileNeedles = (all: readonly Buffer[]): NeedleSet | undefined => {
  const needles = all.filter(({ length }) => length > 0)
  if (needles.length === 0) return undefined
  const shortest = Math.min(...needles.map(({ length }) => length), 255)
  const shift = new Uint8Array(65_536).fill(shortest - 1)
  for (const needle of needles) {
    for (let at = 1; at < shortest; at++) {
      const pair = ((needle[at - 1] as number) << 8) | (needle[at] as number)
      shift[pair] = Math.min(shift[pair] as number, shortest - 1 - at)
    }
  }
  return { needles, shortest, longest: Math.max(...needles.map(({ length }) => length)), shift }
}

export const createRedactor = (set: NeedleSet): Redactor => {
  /** As it came, because it has to be searched again together with what follows. */
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
  const push = (chunk: Buffer): Buffer => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const found = search(bytes, set)
    const ready = bytes.length - unfinished(bytes, set)
    // Nearly always: nothing of it is to be covered, and it goes on as it came, without a copy.
    if (found.length === 0 && heldCovered === 0) {
      held = ready === bytes.length ? EMPTY : Buffer.from(bytes.subarray(ready))
      return ready === bytes.length ? bytes : bytes.subarray(0, ready)
    }
    count += found.filter(({ end }) => end > held.length).length
    const result = cover(bytes, found).subarray(0, ready)
    heldCovered = Math.max(heldCovered - ready, ...found.filter(({ start }) => start < ready).map(({ end }) => end - ready), 0)
    held = ready === bytes.length ? EMPTY : Buffer.from(bytes.subarray(ready))
    return result
  }
  const end = (): Buffer => {
    const rest = cover(held, search(held, set))
    held = EMPTY
    heldCovered = 0
    return rest
  }
  return { push, end, count: () => count }
}

interface Found {
  readonly start: number
  readonly end: number
}

/** Every place at which a needle begins, with the longest one that does. Most bytes are never looked at. */
const search = (bytes: Buffer, { needles, shortest, shift }: NeedleSet): readonly Found[] => {
  const found: Found[] = []
  const length = bytes.length
  for (let last = shortest - 1; last < length;) {
    const step = shortest === 1 ? 0 : (shift[((bytes[last - 1] as number) << 8) | (bytes[last] as number)] as number)
    if (step > 0) {
      last += step
      continue
    }
    const start = last - shortest + 1
    const longest = longestAt(bytes, start, needles)
    if (longest > 0) found.push({ start, end: start + longest })
    last++
  }
  return found
}

const longestAt = (bytes: Buffer, start: number, needles: readonly Buffer[]): number => {
  let longest = 0
  for (const needle of needles) if (needle.length > longest && startsWith(bytes, start, needle, needle.length)) longest = needle.length
  return longest
}

const startsWith = (bytes: Buffer, start: number, needle: Buffer, length: number): boolean => {
  if (start + length > bytes.length) return false
  for (let at = 0; at < length; at++) if (bytes[start + at] !== needle[at]) return false
  return true
}

/** How many bytes at the end are the beginning of a needle whose rest may follow. */
const unfinished = (bytes: Buffer, { needles, longest }: NeedleSet): number => {
  for (let length = Math.min(longest - 1, bytes.length); length > 0; length--) {
    const start = bytes.length - length
    if (needles.some((needle) => needle.length > length && needle[0] === bytes[start] && startsWith(bytes, start, needle, length))) return length
  }
  return 0
}

/** Of a text that is known as a whole. */
export const redactText = (needles: NeedleSet, text: string): { readonly text: string; readonly count: number } => {
  const redactor = createRedactor(needles)
  const covered = Buffer.concat([redactor.push(Buffer.from(text, 'latin1')), redactor.end()])
  return redactor.count() === 0 ? { text, count: 0 } : { text: covered.toString('latin1'), count: redactor.count() }
}
