/**
 * @param {readonly number[]} values
 * @param {number} share 0..1
 */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper
}

/**
 * The median of ratios taken block by block, so that a block in which the
 * whole machine was slow counts for both sides alike.
 * @param {readonly (number | undefined)[]} blocks
 * @param {readonly (number | undefined)[]} baseline
 */
export function medianRatio(blocks, baseline) {
  const ratios = blocks.flatMap((value, block) => {
    const reference = baseline[block]
    return value === undefined || reference === undefined ? [] : [value / reference]
  })
  return median(ratios)
}

/**
 * A different order every round, the same orders every run: nobody always
 * pays for what the one before it left behind.
 * @param {number} seed
 */
export function createShuffle(seed) {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  /**
   * @template T
   * @param {readonly T[]} items
   * @returns {T[]}
   */
  return (items) =>
    items
      .map((item) => ({ item, key: next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item)
}
