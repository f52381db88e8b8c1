// The library as an agent uses it: `createCordon().call`, decided and permitted, with and without the audit log.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCordon, processTool, tool } from 'cordon'
import { createRunner } from './runner.mjs'

/** A function tool runs in a Node process that starts early. Its cell is ready before that process is. */
const NODE_STARTS_MS = 100

const FUNCTION = {
  make: () => tool({ name: 'job', run: (/** @type {{ a: number, b: number }} */ { a, b }) => a + b }),
  startsMs: NODE_STARTS_MS,
}

export const findCall = () => openContestant('cordon-call', 'cordon.call, process tool', {})
export const findCallWithLog = () => openContestant('cordon-call-log', 'the same, with the audit log', { log: true })
export const findFunction = () => openContestant('cordon-function', 'cordon.call, function tool', FUNCTION)
export const findFunctionWithLog = () =>
  openContestant('cordon-function-log', 'the same, with the audit log', { ...FUNCTION, log: true })

/**
 * @typedef {object} CallForm
 * @property {boolean} [log]
 * @property {(job: import('./runner.mjs').Job) => import('cordon').CordonOptions['tools'][number]} [make] default: a
 * process tool
 * @property {number} [startsMs] how long its program takes to start in a cell that is ready
 * @property {Partial<import('cordon').CordonOptions>} [options]
 * @property {() => Promise<void>} [close]
 */

/**
 * @param {string} name
 * @param {string} title
 * @param {CallForm} form
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
export async function openContestant(name, title, { log = false, make, startsMs = 0, options = {}, close }) {
  return {
    name,
    title,
    role: 'cordon',
    works: false,
    open: async (job) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'cordon-bench-'))
      const made = make?.(job) ?? processTool({ name: 'job', command: () => [...job.argv] })
      const cordon = await createCordon({
        workspace: job.cwd,
        mode: 'on_request',
        tools: [made],
        ...(log ? { audit: { path: path.join(folder, 'audit.jsonl') } } : {}),
        ...options,
      })
      const call = async () => {
        const { status, facts } = await cordon.call('job', { a: 1, b: 2 })
        if (status !== 'ok') throw new Error(`${status}: ${facts.error?.message}`)
      }
      return createRunner(call, {
        ready: async () => {
          await cordon.prewarm('job', { a: 1, b: 2 })
          if (startsMs > 0) await sleep(startsMs)
        },
        close: async () => {
          await cordon.close()
          rmSync(folder, { recursive: true, force: true })
        },
      })
    },
    close: async () => {
      await close?.()
    },
  }
}
