import { findProgram } from './look-up.mjs'
import { createRunner } from './runner.mjs'
import { spawnAndWait } from './spawn.mjs'

/** @returns {Promise<import('./runner.mjs').Contestant>} */
export async function findFirejail() {
  const firejail = findProgram('firejail')
  if (firejail === undefined) throw new Error('firejail is not in PATH')
  return {
    name: 'firejail',
    title: 'firejail, no profile, no network',
    role: 'peer',
    works: true,
    open: async (job) => {
      const argv = [
        firejail,
        '--quiet',
        '--noprofile',
        '--net=none',
        '--private-dev',
        '--keep-var-tmp',
        '--read-only=/',
        `--read-write=${job.cwd}`,
        '--',
        ...job.argv,
      ]
      return createRunner(() => spawnAndWait(argv, { cwd: job.cwd, accept: job.accept }))
    },
    close: async () => {},
  }
}
