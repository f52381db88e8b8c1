import { findBare } from './bare.mjs'
import { findBubblewrap } from './bubblewrap.mjs'
import { findCodex } from './codex.mjs'
import { findCordonCold, findCordonLandlock, findCordonWarm } from './cordon.mjs'
import { findCrun } from './crun.mjs'
import { findFirejail } from './firejail.mjs'
import { findPodman } from './podman.mjs'
import { messageOf } from './runner.mjs'
import { findCall, findCallWithLog, findFunction, findFunctionWithLog } from './runtime.mjs'
import { findSandboxRuntime } from './sandbox-runtime.mjs'

/** Each finder rejects with one line that says why its contestant cannot run here. */
const FINDERS = /** @type {const} */ ({
  'bare': findBare,
  'cordon-cold': findCordonCold,
  'cordon-warm': findCordonWarm,
  'cordon-landlock': findCordonLandlock,
  'cordon-call': findCall,
  'cordon-call-log': findCallWithLog,
  'cordon-function': findFunction,
  'cordon-function-log': findFunctionWithLog,
  'bubblewrap': findBubblewrap,
  'sandbox-runtime': findSandboxRuntime,
  'codex': findCodex,
  'firejail': findFirejail,
  'podman': findPodman,
  'crun': findCrun,
})

/**
 * @typedef {object} Entrant
 * @property {import('./runner.mjs').Contestant} contestant
 * @property {number} ms of a trial call: how slow it is decides how often it is measured
 */

/**
 * @param {{ names: ReadonlySet<string>, peers: string | undefined, scratch: string, trial: import('./runner.mjs').Job
 * }} where
 * @returns {Promise<{ entrants: Entrant[], absent: { name: string, reason: string }[] }>}
 */
export function findContestants({ names, ...where }) {
  return findAmong(
    Object.entries(FINDERS).filter(([name]) => names.has(name)),
    where,
  )
}

/** @typedef {{ peers: string | undefined, scratch: string }} Where */
/** @typedef {(where: Where) => Promise<import('./runner.mjs').Contestant>} Finder */

/**
 * @param {(readonly [string, Finder])[]} finders
 * @param {{ peers: string | undefined, scratch: string, trial: import('./runner.mjs').Job }} where
 * @returns {Promise<{ entrants: Entrant[], absent: { name: string, reason: string }[] }>}
 */
export async function findAmong(finders, { peers, scratch, trial }) {
  const entrants = []
  const absent = []
  for (const [name, find] of finders) {
    try {
      const contestant = await find({ peers, scratch })
      entrants.push({ contestant, ms: await timeTrial(contestant, trial) })
    } catch (error) {
      absent.push({ name, reason: messageOf(error) })
    }
  }
  return { entrants, absent }
}

/**
 * @param {import('./runner.mjs').Contestant} contestant
 * @param {import('./runner.mjs').Job} trial
 */
async function timeTrial(contestant, trial) {
  const runner = await contestant.open(trial)
  try {
    const times = []
    for (let call = 0; call < 3; call += 1) times.push(await runner.sample())
    return Math.min(...times)
  } finally {
    await runner.close()
  }
}
