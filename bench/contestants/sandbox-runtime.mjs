import { fork } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPackage } from './look-up.mjs'

/** @typedef {{ id: number, value?: unknown, error?: string }} Reply */

/**
 * A library, so it is measured as one, but in a process of its own: its heap
 * in ours would make every other contestant's spawn slower.
 * @param {{ peers: string | undefined, scratch: string }} where
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
export async function findSandboxRuntime({ peers, scratch }) {
  const folder = findPackage('@anthropic-ai/sandbox-runtime', peers)
  if (folder === undefined)
    throw new Error('@anthropic-ai/sandbox-runtime is neither installed globally nor in --peers')
  const home = path.join(scratch, 'sandbox-runtime-home')
  mkdirSync(home)
  /** @type {Array<() => void>} */
  const closers = []
  return {
    name: 'sandbox-runtime',
    title: 'sandbox-runtime library',
    role: 'peer',
    works: true,
    open: async (job) => {
      const host = startHost(path.join(folder, 'dist/index.js'), job, home)
      closers.push(host.kill)
      await host.ask('open', [])
      return {
        ready: async () => {},
        sample: async () => Number(await host.ask('sample', [])),
        slice: async (calls, inFlight) =>
          /** @type {import('./runner.mjs').Slice} */ (await host.ask('slice', [calls, inFlight])),
        close: async () => {
          await host.ask('close', [])
          host.kill()
        },
      }
    },
    close: async () => closers.forEach((kill) => kill()),
  }
}

/**
 * @param {string} library
 * @param {import('./runner.mjs').Job} job
 * @param {string} home
 */
function startHost(library, job, home) {
  const program = fileURLToPath(new URL('sandbox-runtime-host.mjs', import.meta.url))
  const child = fork(program, [library, JSON.stringify(job)], {
    cwd: job.cwd,
    env: { ...process.env, HOME: home },
    silent: true,
  })
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (reason: Error) => void }>} */
  const waiting = new Map()
  let asked = 0
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said = String(chunk)
  })
  child.on('message', (message) => {
    const reply = /** @type {Reply} */ (message)
    const promise = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.error === undefined) promise?.resolve(reply.value)
    else promise?.reject(new Error(reply.error))
  })
  child.on('exit', () => waiting.forEach(({ reject }) => reject(new Error(`its host process ended: ${said}`))))
  return {
    /** @param {'open' | 'sample' | 'slice' | 'close'} verb @param {number[]} values */
    ask: (verb, values) =>
      new Promise((resolve, reject) => {
        asked += 1
        waiting.set(asked, { resolve, reject })
        child.send({ id: asked, verb, values })
      }),
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}
