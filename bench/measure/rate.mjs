import { setTimeout as sleep } from 'node:timers/promises'
import { createShuffle, median, medianRatio } from './statistics.mjs'

/** Between slices: lets the kernel finish tearing down the last contestant's namespaces. */
const PAUSE_MS = 60
/** Slower than this per call, and a contestant takes part in one of three blocks. */
const SLOW_MS = 20

/**
 * @typedef {object} Rate
 * @property {number} inFlight
 * @property {number} calls all that were made
 * @property {number} perSecond median of the blocks
 * @property {number} ratio to bare, median of the blocks' ratios
 * @property {number} failed
 * @property {string | undefined} failure the first one
 */

/**
 * Back-to-back calls in slices of time, contestants taking turns.
 * @param {object} plan
 * @param {readonly import('../contestants/index.mjs').Entrant[]} plan.entrants
 * @param {import('../contestants/runner.mjs').Job} plan.job
 * @param {number} plan.inFlight
 * @param {number} plan.blocks
 * @param {number} plan.sliceMs about how long one contestant's turn lasts
 * @param {(done: number, of: number) => void} plan.progress
 * @returns {Promise<Record<string, Rate>>}
 */
export async function measureRate({ entrants, job, inFlight, blocks, sliceMs, progress }) {
  const shuffle = createShuffle(inFlight)
  const lanes = await Promise.all(
    entrants.map(async ({ contestant, ms }) => ({
      name: contestant.name,
      runner: await contestant.open(job),
      calls: Math.max(3 * inFlight, Math.round(sliceMs / ms)),
      stride: ms > SLOW_MS ? 3 : 1,
      made: 0,
      rates: Array.from({ length: blocks }, () => /** @type {number | undefined} */ (undefined)),
      failures: /** @type {string[]} */ ([]),
    })),
  )
  try {
    for (let block = 0; block < blocks; block += 1) {
      progress(block, blocks)
      for (const lane of shuffle(lanes)) {
        if (block % lane.stride !== 0) continue
        await lane.runner.ready()
        await sleep(PAUSE_MS)
        const { ms, done, failures } = await lane.runner.slice(lane.calls, inFlight)
        lane.made += lane.calls
        lane.rates[block] = (done / ms) * 1000
        lane.failures.push(...failures)
      }
    }
  } finally {
    await Promise.all(lanes.map((lane) => lane.runner.close()))
  }
  const bare = lanes.find((lane) => lane.name === 'bare')?.rates ?? []
  return Object.fromEntries(
    lanes.map(({ name, made, rates, failures }) => [
      name,
      {
        inFlight,
        calls: made,
        perSecond: median(rates.filter((rate) => rate !== undefined)),
        ratio: medianRatio(rates, bare),
        failed: failures.length,
        failure: failures[0],
      },
    ]),
  )
}
