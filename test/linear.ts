// Checks that work grows no faster than its input, by comparing two sizes. It measures CPU time, so that other programs
// do not count, and takes the best of several rounds.
import { expect } from 'vitest'

const SIZES = { small: 8_000, large: 64_000 }
/** Linear is 8, quadratic 64. */
const MOST_GROWTH = 40
/** Quadratic work at the large size takes a second and more; less proves nothing. */
const NOTHING_US = 100_000
const ROUNDS = 8

/** The best of all rounds, or the first one that takes no longer than `enough`. */
const effortOf = async (work: (size: number) => unknown, size: number, enough = 0): Promise<number> => {
  let best = Infinity
  for (let round = 0; round < ROUNDS && best > enough; round++) {
    const before = process.cpuUsage()
    await work(size)
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, user + system)
  }
  return best
}

export const expectLinear = async (what: string, work: (size: number) => unknown): Promise<void> => {
  const large = await effortOf(work, SIZES.large, NOTHING_US)
  if (large <= NOTHING_US) return
  const small = await effortOf(work, SIZES.small)
  expect(
    large / Math.max(small, 1_000),
    `${what}: ${String(small)} µs for ${String(SIZES.small)}, ${String(large)} µs for ${String(SIZES.large)}`,
  ).toBeLessThan(MOST_GROWTH)
}
