import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { findPackage, findProgram } from './look-up.mjs'
import { createRunner, JOB_ENVIRONMENT } from './runner.mjs'
import { spawnAndWait } from './spawn.mjs'

/**
 * @param {{ peers: string | undefined, scratch: string }} where
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
export async function findCodex({ peers, scratch }) {
  const codex = nativeProgram(peers) ?? findProgram('codex', peers)
  if (codex === undefined) throw new Error('@openai/codex is neither in PATH nor in --peers')
  const home = path.join(scratch, 'codex-home')
  mkdirSync(home)
  const env = { ...JOB_ENVIRONMENT, HOME: home, CODEX_HOME: home }
  return {
    name: 'codex',
    title: 'codex sandbox',
    role: 'peer',
    works: true,
    open: async (job) => {
      const argv = [codex, 'sandbox', '-c', 'sandbox_mode="workspace-write"', '--', ...job.argv]
      return createRunner(() => spawnAndWait(argv, { cwd: job.cwd, env, accept: job.accept }))
    },
    close: async () => {},
  }
}

/**
 * The npm package's `codex` is a Node script in front of a native program;
 * measuring the script would add a Node start that is not the sandbox's.
 * @param {string | undefined} peers
 */
function nativeProgram(peers) {
  return [`@openai/codex-linux-${process.arch}`, '@openai/codex']
    .map((name) => findPackage(name, peers))
    .filter((folder) => folder !== undefined)
    .map((folder) => path.join(folder, 'vendor'))
    .filter((vendor) => existsSync(vendor))
    .flatMap((vendor) => readdirSync(vendor).map((target) => path.join(vendor, target, 'bin/codex')))
    .find((file) => existsSync(file))
}
