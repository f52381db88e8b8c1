// How long a program takes to start: the command line and `import 'cordon'`, beside a Node that does nothing.
import { fileURLToPath } from 'node:url'
import { JOB_ENVIRONMENT } from '../contestants/runner.mjs'
import { spawnAndWait } from '../contestants/spawn.mjs'
import { createShuffle, median, medianRatio } from './statistics.mjs'

const CORDON = fileURLToPath(new URL('../../packages/core/bin/cordon.js', import.meta.url))
const NODE = process.execPath

/** @type {Readonly<Record<string, readonly [string, ...string[]]>>} */
const COMMANDS = {
  'node -e 0': [NODE, '-e', '0'],
  'cordon --version': [NODE, CORDON, '--version'],
  'cordon --help': [NODE, CORDON, '--help'],
  'cordon run -- true': [NODE, CORDON, 'run', '--', '/bin/true'],
  "import 'cordon'": [NODE, '--input-type=module', '-e', "import 'cordon'"],
}

/**
 * @typedef {object} Command
 * @property {string} title
 * @property {number} p50 milliseconds
 * @property {number} ratio to `node -e 0`
 */

/**
 * @param {{ cwd: string, blocks: number, rounds: number, progress: (done: number, of: number) => void }} plan
 * @returns {Promise<Command[]>}
 */
export async function measureCommands({ cwd, blocks, rounds, progress }) {
  const shuffle = createShuffle(3)
  const lanes = Object.entries(COMMANDS).map(([title, argv]) => ({
    title,
    argv,
    // The package is found from its own folder.
    cwd: title.startsWith('import') ? fileURLToPath(new URL('../..', import.meta.url)) : cwd,
    blocks: Array.from({ length: blocks }, () => /** @type {number[]} */ ([])),
  }))
  for (let round = 0; round < blocks * rounds; round += 1) {
    progress(round, blocks * rounds)
    for (const { argv, cwd: folder, blocks: own } of shuffle(lanes)) {
      const began = performance.now()
      await spawnAndWait(argv, { cwd: folder, env: { ...JOB_ENVIRONMENT, HOME: cwd } })
      own[Math.floor(round / rounds)]?.push(performance.now() - began)
    }
  }
  const medians = lanes.map(({ blocks: own }) => own.map(median))
  return lanes.map(({ title }, at) => ({
    title,
    p50: median(medians[at] ?? []),
    ratio: medianRatio(medians[at] ?? [], medians[0] ?? []),
  }))
}
