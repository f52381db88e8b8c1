// The library as an agent uses it: `createCordon().call`, decided and permitted, with and without the audit log.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCordon, processTool, tool } from 'cordon'
import { createRunner } from './runner.mjs'

/** A function tool runs in a Node process that starts early. Its cell is ready before that process is. */
const NODE_STARTS_MS = 100

export const findCall = () => openContestant('cordon-call', 'cordon.call, process tool', { log: false })
export const findCallWithLog = () => openContestant('cordon-call-log', 'the same, with the audit log', { log: true })
export const findFunction = () =>
  openContestant('cordon-function', 'cordon.call, function tool', { log: false, isFunction: true })
export const findFunctionWithLog = () =>
  openContestant('cordon-function-log', 'the same, with the audit log', { log: true, isFunction: true })

/**
 * @param {string} name
 * @param {string} title
 * @param {{ log: boolean, isFunction?: boolean }} form
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
async function openContestant(name, title, { log, isFunction = false }) {
  return {
    name,
    title,
    role: 'cordon',
    works: false,
    open: async (job) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'cordon-bench-'))
      const made = isFunction
        ? tool({ name: 'job', run: (/** @type {{ a: number, b: number }} */ { a, b }) => a + b })
        : processTool({ name: 'job', command: () => [...job.argv] })
      const cordon = await createCordon({
        workspace: job.cwd,
        mode: 'on_request',
        tools: [made],
        ...(log ? { audit: { path: path.join(folder, 'audit.jsonl') } } : {}),
      })
      const call = async () => {
        const { status, facts } = await cordon.call('job', { a: 1, b: 2 })
        if (status !== 'ok') throw new Error(`${status}: ${facts.error?.message}`)
      }
      return createRunner(call, {
        ready: async () => {
          await cordon.prewarm('job', { a: 1, b: 2 })
          if (isFunction) await sleep(NODE_STARTS_MS)
        },
        close: async () => {
          await cordon.close()
          rmSync(folder, { recursive: true, force: true })
        },
      })
    },
    close: async () => {},
  }
}
