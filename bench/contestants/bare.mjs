import { createRunner } from './runner.mjs'
import { spawnAndWait } from './spawn.mjs'

/** @returns {Promise<import('./runner.mjs').Contestant>} */
export async function findBare() {
  return {
    name: 'bare',
    title: 'child_process.spawn, no sandbox',
    role: 'baseline',
    works: true,
    open: async (job) => createRunner(() => spawnAndWait(job.argv, { cwd: job.cwd, accept: job.accept })),
    close: async () => {},
  }
}
