// How long a program waits that uses an embedded store for the first time, and one that opens it again.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('first-use-process.mjs', import.meta.url))

/**
 * @typedef {object} FirstUse
 * @property {number} answeredMs since the process began, until the first question was answered
 * @property {number} runtimeMs until there was a runtime, where the folder had a team
 * @property {number} cpuMs of all threads, until the first
 */

/**
 * @param {string} folder
 * @returns {FirstUse}
 */
function useOnce(folder) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the embedded store was not opened: ${stderr}`)
  return JSON.parse(stdout)
}

/**
 * @param {string} scratch
 * @param {number} rounds
 */
export function measureFirstUse(scratch, rounds) {
  /** @type {{ first: FirstUse[], again: FirstUse[] }} */
  const uses = { first: [], again: [] }
  for (let round = 0; round < rounds; round += 1) {
    const folder = path.join(scratch, 'first-use')
    uses.first.push(useOnce(folder))
    uses.again.push(useOnce(folder))
    rmSync(folder, { recursive: true })
  }
  return uses
}
