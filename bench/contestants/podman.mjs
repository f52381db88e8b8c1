import path from 'node:path'
import { findProgram } from './look-up.mjs'
import { buildRootfs } from './rootfs.mjs'
import { createRunner } from './runner.mjs'
import { spawnAndWait } from './spawn.mjs'

/** Where the host lets podman set neither limits nor cgroups, it runs without them. */
const WITHOUT_LIMITS = ['--cgroups=disabled', '--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024']

/**
 * @param {{ scratch: string }} where
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
export async function findPodman({ scratch }) {
  const podman = findProgram('podman')
  if (podman === undefined) throw new Error('podman is not in PATH')
  const rootfs = buildRootfs(path.join(scratch, 'rootfs'), '/bin/true')
  /** @param {string[]} flags @param {readonly string[]} argv */
  const run = (flags, argv) =>
    spawnAndWait([podman, 'run', '--rm', '--network', 'none', '--read-only', ...flags, '--rootfs', rootfs, ...argv], {
      env: process.env,
    })
  const whole = await run([], ['/bin/true']).then(
    () => true,
    () => false,
  )
  return {
    name: 'podman',
    title: whole ? 'podman run, local rootfs' : 'podman run, local rootfs, no cgroup',
    role: 'peer',
    works: false,
    open: async (job) => createRunner(() => run(whole ? [] : WITHOUT_LIMITS, job.argv)),
    close: async () => {},
  }
}
