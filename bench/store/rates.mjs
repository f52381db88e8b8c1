/**
 * @param {() => Promise<void>} once
 * @param {number} inFlight
 * @param {number} seconds
 * @returns {Promise<number>} per second
 */
export async function rateOf(once, inFlight, seconds) {
  const began = performance.now()
  const until = began + seconds * 1000
  let count = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < until) {
        await once()
        count += 1
      }
    }),
  )
  return (count * 1000) / (performance.now() - began)
}

/**
 * @typedef {object} Rates
 * @property {number[]} calls per second, for each number in flight
 * @property {number[]} bare of the same writes
 * @property {number[]} shares of the first in the second
 */

/**
 * The same writes half before and half after, so that what the machine does meanwhile falls on both.
 * @param {{ inFlight: readonly number[], seconds: number, once: () => Promise<void>, bare: (inFlight: number, seconds:
 * number) => Promise<number> | number }} plan
 * @returns {Promise<Rates>}
 */
export async function compareRates({ inFlight, seconds, once, bare }) {
  /** @type {Rates} */
  const rates = { calls: [], bare: [], shares: [] }
  for (const count of inFlight) {
    await rateOf(once, count, 0.5)
    const first = await bare(count, seconds / 2)
    const calls = await rateOf(once, count, seconds)
    const same = (first + (await bare(count, seconds / 2))) / 2
    rates.calls.push(calls)
    rates.bare.push(same)
    rates.shares.push(calls / same)
  }
  return rates
}
