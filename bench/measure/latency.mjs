import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../contestants/runner.mjs'
import { createShuffle, median, medianRatio, percentile } from './statistics.mjs'

/** Before every sample, for everyone: what the call before left to the kernel's workers is done by then. */
const PAUSE_MS = 2

/**
 * @typedef {object} Latency
 * @property {number} n
 * @property {number} p50 median of the blocks' medians, milliseconds
 * @property {number} p95 of all samples
 * @property {number} ratio to bare, median of the blocks' ratios
 * @property {number} failed
 * @property {string | undefined} failure the first one
 */

/**
 * Round-robin, one sample of each contestant per round.
 * @param {object} plan
 * @param {readonly import('../contestants/index.mjs').Entrant[]} plan.entrants
 * @param {import('../contestants/runner.mjs').Job} plan.job
 * @param {() => Promise<void>} [plan.before] restores what a call of the job changed; not measured
 * @param {number} plan.blocks
 * @param {number} plan.rounds per block
 * @param {(entrant: import('../contestants/index.mjs').Entrant) => number} plan.stride takes part in one of so many
 * rounds
 * @param {(done: number, of: number) => void} plan.progress
 * @returns {Promise<Record<string, Latency>>}
 */
export async function measureLatency({ entrants, job, before, blocks, rounds, stride, progress }) {
  const shuffle = createShuffle(1)
  const lanes = await Promise.all(
    entrants.map(async (entrant) => ({
      name: entrant.contestant.name,
      runner: await entrant.contestant.open(job),
      stride: stride(entrant),
      blocks: Array.from({ length: blocks }, () => /** @type {number[]} */ ([])),
      failures: /** @type {string[]} */ ([]),
    })),
  )
  const sample = async (/** @type {typeof lanes[number]} */ lane, /** @type {number | undefined} */ block) => {
    await before?.()
    await lane.runner.ready()
    await sleep(PAUSE_MS)
    try {
      const ms = await lane.runner.sample()
      if (block !== undefined) lane.blocks[block]?.push(ms)
    } catch (error) {
      lane.failures.push(messageOf(error))
    }
  }
  try {
    for (const lane of lanes) await sample(lane, undefined)
    for (let round = 0; round < blocks * rounds; round += 1) {
      progress(round, blocks * rounds)
      for (const lane of shuffle(lanes)) {
        if (round % lane.stride === 0) await sample(lane, Math.floor(round / rounds))
      }
    }
  } finally {
    await Promise.all(lanes.map((lane) => lane.runner.close()))
  }
  return summarise(lanes)
}

/** @param {{ name: string, blocks: number[][], failures: string[] }[]} lanes */
function summarise(lanes) {
  const medians = (/** @type {number[][]} */ blocks) =>
    blocks.map((block) => (block.length === 0 ? undefined : median(block)))
  const bare = medians(lanes.find((lane) => lane.name === 'bare')?.blocks ?? [])
  return Object.fromEntries(
    lanes.map(({ name, blocks, failures }) => {
      const all = blocks.flat()
      const own = medians(blocks)
      return [
        name,
        {
          n: all.length,
          p50: median(own.filter((value) => value !== undefined)),
          p95: percentile(all, 0.95),
          ratio: medianRatio(own, bare),
          failed: failures.length,
          failure: failures[0],
        },
      ]
    }),
  )
}
