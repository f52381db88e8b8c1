import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { systemPaths } from './cordon.mjs'
import { findProgram } from './look-up.mjs'
import { createRunner, JOB_ENVIRONMENT } from './runner.mjs'
import { spawnAndWait } from './spawn.mjs'

/** Where Cordon is not built and so cannot say what a cell may read. */
const USUAL_PATHS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc/ld.so.cache', '/etc/alternatives']

/** @returns {Promise<import('./runner.mjs').Contestant>} */
export async function findBubblewrap() {
  const bwrap = findProgram('bwrap')
  if (bwrap === undefined) throw new Error('bwrap is not in PATH')
  const granted = await systemPaths()
  const system = (granted.length === 0 ? USUAL_PATHS : granted).filter((path) => existsSync(path)).flatMap(mirror)
  return {
    name: 'bubblewrap',
    title: 'bubblewrap, same boundary',
    role: 'peer',
    works: true,
    open: async (job) => {
      const argv = [bwrap, ...boundary(system, job.cwd), '--', ...job.argv]
      return createRunner(() => spawnAndWait(argv, { cwd: job.cwd, accept: job.accept }))
    },
    close: async () => {},
  }
}

/**
 * @param {string[]} system
 * @param {string} writable
 */
function boundary(system, writable) {
  const environment = Object.entries(JOB_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value])
  return [
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    '--clearenv',
    ...environment,
    ...system,
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    '--bind',
    writable,
    writable,
    '--chdir',
    writable,
  ]
}

/** @param {string} path */
function mirror(path) {
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
