/**
 * A job is the same for every contestant: a program of the host, a folder of
 * the host it may write, and this environment.
 * @typedef {object} Job
 * @property {readonly [string, ...string[]]} argv
 * @property {string} cwd
 * @property {readonly number[]} [accept] exit codes that count as done; 0 when not given
 */
export const JOB_ENVIRONMENT = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }

/**
 * @typedef {object} Slice
 * @property {number} ms
 * @property {number} done
 * @property {string[]} failures
 */

/**
 * One job, ready to be run any number of times.
 * @typedef {object} Runner
 * @property {() => Promise<void>} ready   whatever may happen before a measured call
 * @property {() => Promise<number>} sample milliseconds of one call; rejects when it failed
 * @property {(calls: number, inFlight: number) => Promise<Slice>} slice
 * @property {() => Promise<void>} close
 */

/**
 * @typedef {object} Contestant
 * @property {string} name
 * @property {string} title
 * @property {'baseline' | 'cordon' | 'peer'} role
 * @property {boolean} works whether it can run the host's own programs, so also the work jobs
 * @property {(job: Job) => Promise<Runner>} open
 * @property {() => Promise<void>} close
 */

/** Some peers wait for a daemon for ever; a call that takes longer than this has failed. */
const DEADLINE_MS = 30_000

/**
 * @param {() => Promise<void>} call resolves when the program has ended well
 * @param {{ ready?: () => Promise<void>, close?: () => Promise<void> }} [around]
 * @returns {Runner}
 */
export function createRunner(call, around = {}) {
  return {
    ready: around.ready ?? (async () => {}),
    close: around.close ?? (async () => {}),
    async sample() {
      const start = performance.now()
      await withDeadline(call())
      return performance.now() - start
    },
    async slice(calls, inFlight) {
      let left = calls
      /** @type {string[]} */
      const failures = []
      const lane = async () => {
        while (left > 0) {
          left -= 1
          await withDeadline(call()).catch((error) => failures.push(messageOf(error)))
        }
      }
      const start = performance.now()
      await Promise.all(Array.from({ length: inFlight }, lane))
      return { ms: performance.now() - start, done: calls - failures.length, failures }
    },
  }
}

/**
 * @param {Promise<void>} promise
 * @returns {Promise<void>}
 */
function withDeadline(promise) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`did not end within ${DEADLINE_MS / 1000} s`)), DEADLINE_MS)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/**
 * @param {unknown} error
 * @returns {string} one line
 */
export function messageOf(error) {
  const text = error instanceof Error ? error.message : String(error)
  return (
    text
      .trim()
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? 'no reason given'
  )
}
