import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { descendants } from '../measure/processes.mjs'
import { createScratch } from '../scratch.mjs'
import { newTraces, readTraces, waitForQuiet } from './traces.mjs'

const PATIENCE_MS = 10_000

/**
 * A host process with calls under way, idle warm cells and daemons in the cells is killed at once.
 * @param {import('./hammer.mjs').Plan} plan
 * @returns {Promise<import('./hammer.mjs').Finding[]>}
 */
export async function killHost(plan) {
  const scratch = createScratch('cordon-leaks')
  const directory = path.join(scratch, 'workspace')
  mkdirSync(directory)
  const before = readTraces(directory)
  const host = plan.startHost('hold', directory, plan)
  const ended = once(host, 'exit')
  // Every call runs two sleeps: one of its own, one as a daemon in a session of its own.
  const started = await waitFor(() => sleeping() >= 2 * plan.inFlight)
  const running = descendants(process.pid).length
  host.kill('SIGKILL')
  const { ms, left } = await waitForQuiet(1000)
  await ended
  for (const name of readdirSync(scratch))
    if (name.startsWith('host-')) rmSync(path.join(scratch, name), { recursive: true })
  const traces = newTraces(before, readTraces(directory))
  return [
    {
      claim:
        `SIGKILL of a host process with ${running} processes beneath it: all gone within a ` +
        `second${left.length === 0 ? ` (${Math.round(ms)} ms)` : ''}`,
      trouble: [...(started ? [] : ['the calls never came under way']), ...left],
    },
    { claim: 'after the SIGKILL no file, mount, control group or IPC object left behind', trouble: traces },
  ]
}

function sleeping() {
  return descendants(process.pid).filter(({ name }) => name === 'sleep').length
}

/** @param {() => boolean} condition */
async function waitFor(condition) {
  for (const start = performance.now(); performance.now() - start < PATIENCE_MS;) {
    if (condition()) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}
