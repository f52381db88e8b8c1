import { mkdirSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import path from 'node:path'
import { createScratch } from '../scratch.mjs'
import { newTraces, readTraces, waitForQuiet } from './traces.mjs'

/**
 * @typedef {object} Plan
 * @property {number} calls
 * @property {number} inFlight
 * @property {string} contestants
 * @property {(task: 'hammer' | 'hold', directory: string, plan: Plan) => import('node:child_process').ChildProcess}
 * startHost
 *
 * @typedef {object} Finding
 * @property {string} claim
 * @property {string[]} trouble empty when the claim holds
 *
 * @typedef {{ made: number, failures: string[], descriptors: number }} HostReport
 */

/**
 * @param {Plan} plan
 * @returns {Promise<Finding[]>}
 */
export async function hammer(plan) {
  const directory = path.join(createScratch('cordon-leaks'), 'workspace')
  mkdirSync(directory)
  const before = readTraces(directory)
  const reports = await Promise.all(
    [0, 1].map(async () => {
      const host = plan.startHost('hammer', directory, plan)
      /** @type {{ value: HostReport | undefined }} */
      const report = { value: undefined }
      host.on('message', (message) => {
        report.value = /** @type {HostReport} */ (message)
      })
      await once(host, 'exit')
      return report.value
    }),
  )
  const { left } = await waitForQuiet(1000)
  const traces = newTraces(before, readTraces(directory))
  rmSync(path.dirname(directory), { recursive: true })
  const whole = reports.filter((report) => report !== undefined)
  const failures = whole.flatMap((report) => report.failures)
  return [
    {
      claim:
        `${whole.map((report) => report.made).join(' + ')} calls of two host processes in one directory, ` +
        `${plan.inFlight} in flight each: none failed`,
      trouble: [
        ...(whole.length === 2 ? [] : [`${2 - whole.length} host process(es) ended early`]),
        ...(failures.length === 0 ? [] : [`${failures.length} failed, the first with: ${failures[0]}`]),
      ],
    },
    { claim: 'no file, mount, control group or IPC object left behind', trouble: traces },
    { claim: 'no process left behind', trouble: left },
    {
      claim: 'no descriptor leaked',
      trouble: whole
        .filter((report) => report.descriptors > 0)
        .map((report) => `${report.descriptors} more open than before`),
    },
  ]
}
