// npm run bench -- --tools --sustain 60: calls of function tools and process tools, 8 in flight, for so many
// seconds. What they leave behind is counted at rest: after a tenth of the time, and at the end.
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { tool } from 'cordon'
import { descendants } from './measure/processes.mjs'
import { openRuntime } from './measure/runtime.mjs'

const IN_FLIGHT = 8
const REST_MS = 3_000
/** Beyond what two looks at a process that does nothing differ by. */
const TOLERATED = { heapMb: 4, rssMb: 48, processes: 3, descriptors: 4 }

const LEVELS = /** @type {const} */ (['heapMb', 'rssMb', 'processes', 'descriptors'])

/** @typedef {{ heapMb: number, rssMb: number, processes: number, descriptors: number }} Level */

/** @param {{ sustain: number }} options */
export async function benchSustained({ sustain }) {
  setFlagsFromString('--expose-gc')
  /** @type {() => void} */
  const collectGarbage = runInNewContext('gc')
  const { cordon, close } = await openRuntime([
    tool({ name: 'denied', policy: { filesystem: { read: ['/usr'] } }, run: () => null }),
  ])
  /** @returns {Promise<Level>} */
  const levelAtRest = async () => {
    await sleep(REST_MS)
    collectGarbage()
    const { heapUsed, rss } = process.memoryUsage()
    return {
      heapMb: heapUsed / 2 ** 20,
      rssMb: rss / 2 ** 20,
      processes: descendants(process.pid).length,
      descriptors: readdirSync('/proc/self/fd').length,
    }
  }
  try {
    await keepBusy(cordon, sustain * 100)
    const before = await levelAtRest()
    const { calls, seconds } = await keepBusy(cordon, sustain * 900)
    const after = await levelAtRest()
    process.stdout.write(
      `${calls} calls, ${IN_FLIGHT} in flight, in ${seconds.toFixed(0)} s: ${(calls / seconds).toFixed(0)} calls/s\n`,
    )
    process.stdout.write(`${''.padEnd(14)}${'before'.padStart(10)}${'after'.padStart(10)}${'allowed'.padStart(10)}\n`)
    let met = true
    for (const name of LEVELS) {
      const [was, is, tolerated] = [before[name], after[name], TOLERATED[name]]
      met &&= is <= was + tolerated
      process.stdout.write(
        `${name.padEnd(14)}${was.toFixed(1).padStart(10)}${is.toFixed(1).padStart(10)}${`+ ${tolerated}`.padStart(10)}\n`,
      )
    }
    process.stdout.write(`nothing grows: ${met ? 'met' : 'missed'}\n`)
    if (!met) process.exitCode = 1
  } finally {
    await close()
  }
}

/**
 * @param {import('./measure/runtime.mjs').Cordon} cordon
 * @param {number} milliseconds
 */
async function keepBusy(cordon, milliseconds) {
  const began = performance.now()
  let calls = 0
  const work = async () => {
    while (performance.now() - began < milliseconds) {
      // Most run, some are denied; each in a session of its own, as a server would have it.
      const at = calls++
      const session = `session-${at}`
      const [name, input, wanted] =
        at % 10 === 0
          ? ['denied', { path: '/etc/shadow' }, 'denied']
          : at % 3 === 0
            ? ['true', {}, 'ok']
            : ['add', { a: at, b: 1 }, 'ok']
      const { status, facts } = await cordon.call(name, input, { session })
      if (status !== wanted) throw new Error(`${name}: ${status}: ${facts.error?.message}`)
      cordon.endSession(session)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  return { calls, seconds: (performance.now() - began) / 1000 }
}
