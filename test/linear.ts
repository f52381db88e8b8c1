// Whether work grows with the size of its input and not faster, by comparing two sizes. The clock is that of the
// processor, so that other programs do not count, and the best of several rounds does.
import { expect } from 'vitest'

const SIZES = { small: 8_000, large: 64_000 }
/** Linear is 8, quadratic 64. */
const MOST_GROWTH = 28
/** Quadratic work at the large size takes a second and more; of so little nothing can be told. */
const NOTHING_US = 30_000
const ROUNDS = 4

const effortOf = async (work: (size: number) => unknown, size: number): Promise<number> => {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    await work(size)
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, user + system)
  }
  return best
}

export const expectLinear = async (what: string, work: (size: number) => unknown): Promise<void> => {
  const large = await effortOf(work, SIZES.large)
  if (large <= NOTHING_US) return
  const small = await effortOf(work, SIZES.small)
  expect(
    large / Math.max(small, 1_000),
    `${what}: ${String(small)} µs for ${String(SIZES.small)}, ${String(large)} µs for ${String(SIZES.large)}`,
  ).toBeLessThan(MOST_GROWTH)
}
