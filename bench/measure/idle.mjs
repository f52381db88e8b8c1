// The first call after a pause, beside calls that follow each other: is the cell still there?
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './statistics.mjs'

/** Each of these runtimes gives one sample. */
const RUNTIMES = 5
const WARM_CALLS = 10

/**
 * @typedef {object} Idle
 * @property {string} title
 * @property {number} minutes of the pause
 * @property {number} warm milliseconds
 * @property {number} first milliseconds of the first call after the pause
 * @property {number} ratio
 */

/**
 * @param {{ contestants: readonly import('../contestants/runner.mjs').Contestant[], job:
 * import('../contestants/runner.mjs').Job, minutes: number, progress: (done: number, of: number) => void }} plan
 * @returns {Promise<Idle[]>}
 */
export async function measureIdle({ contestants, job, minutes, progress }) {
  const lanes = await Promise.all(
    contestants.map(async ({ title, open }) => ({
      title,
      runners: await Promise.all(Array.from({ length: RUNTIMES }, () => open(job))),
      warm: /** @type {number[]} */ ([]),
      first: /** @type {number[]} */ ([]),
    })),
  )
  try {
    for (const { runners, warm } of lanes)
      for (const runner of runners)
        for (let call = 0; call < WARM_CALLS; call += 1) {
          await runner.ready()
          const ms = await runner.sample()
          // The first calls also load code of this process.
          if (call >= WARM_CALLS / 2) warm.push(ms)
        }
    const steps = 60
    for (let step = 0; step < steps; step += 1) {
      progress(step, steps)
      await sleep((minutes * 60_000) / steps)
    }
    for (const { runners, first } of lanes) for (const runner of runners) first.push(await runner.sample())
  } finally {
    await Promise.all(lanes.flatMap(({ runners }) => runners.map((runner) => runner.close())))
  }
  return lanes.map(({ title, warm, first }) => ({
    title,
    minutes,
    warm: median(warm),
    first: median(first),
    ratio: median(first) / median(warm),
  }))
}
