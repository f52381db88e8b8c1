// npm run bench -- --walls: cells inside walls, container tools and WASI tools, beside native cells and a bare spawn.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tool, wasmTool } from 'cordon'
import { findBare } from './contestants/bare.mjs'
import { findContainer } from './contestants/container.mjs'
import { openCold, openWarm } from './contestants/cordon.mjs'
import { findAmong } from './contestants/index.mjs'
import { openContestant } from './contestants/runtime.mjs'
import { writeEmptyProgram } from './jobs/empty-program.mjs'
import { measureLatency } from './measure/latency.mjs'
import { createProgress } from './report/progress.mjs'
import { formatReport } from './report/table.mjs'
import { judge } from './report/targets.mjs'
import { emptyReport } from './run.mjs'
import { createScratch } from './scratch.mjs'

const FULL = { blocks: 10, rounds: 25 }
const QUICK = { blocks: 5, rounds: 8 }
/** What a call leaves to others, such as the next container, is done by then. */
const SETTLE_MS = 20
const NODE_STARTS_MS = 250
/** The next container takes longer than everything else of a round. */
const CONTAINER_STRIDE = 3

/** @type {Record<string, import('./contestants/index.mjs').Finder>} */
const FINDERS = {
  'bare': findBare,
  'native-cold': () => openCold('native-cold', 'native, cold cell', { backend: 'native' }),
  'native-warm': () => openWarm('native-warm', 'native, warm cell', { backend: 'native' }),
  'bubblewrap-cold': () => openCold('bubblewrap-cold', 'bubblewrap, cold cell', { backend: 'bubblewrap' }),
  'bubblewrap-warm': () => openWarm('bubblewrap-warm', 'bubblewrap, warm cell', { backend: 'bubblewrap' }),
  'firejail-cold': () => openCold('firejail-cold', 'firejail, cold cell', { backend: 'firejail' }),
  'firejail-warm': () => openWarm('firejail-warm', 'firejail, warm cell', { backend: 'firejail' }),
  'container': findContainer,
  'function': () => openContestant('function', 'function tool, warm', { make: add, startsMs: NODE_STARTS_MS }),
  'wasm': ({ scratch }) => {
    const module = writeEmptyProgram(scratch)
    const make = () => wasmTool({ name: 'job', module, policy: {} })
    return openContestant('wasm', 'WASI tool, warm', { make, startsMs: NODE_STARTS_MS })
  },
}

/** @type {readonly import('./report/targets.mjs').RunTarget[]} */
const TARGETS = [
  {
    claim: 'container tool, container ready, p50 ms',
    figure: ({ start }) => start['container']?.p50,
    bound: 'at most',
    limit: 15,
  },
  relative('bubblewrap-cold', 'native-cold', 2.5),
  relative('bubblewrap-warm', 'native-warm', 1.3),
  relative('wasm', 'function', 1.5),
]

function add() {
  return tool({ name: 'job', run: (/** @type {{ a: number, b: number }} */ { a, b }) => a + b })
}

/**
 * @param {string} name
 * @param {string} other
 * @param {number} limit
 * @returns {import('./report/targets.mjs').RunTarget}
 */
function relative(name, other, limit) {
  return {
    claim: `${name}, p50, × ${other}`,
    figure: ({ start }) => {
      const [own, reference] = [start[name]?.ratio, start[other]?.ratio]
      return own === undefined || reference === undefined ? undefined : own / reference
    },
    bound: 'at most',
    limit,
  }
}

/**
 * After each sample it waits until the next one is ready, so that nobody else is measured meanwhile.
 * @param {import('./contestants/index.mjs').Entrant} entrant
 * @returns {import('./contestants/index.mjs').Entrant}
 */
function settling({ contestant, ms }) {
  const open = async (/** @type {import('./contestants/runner.mjs').Job} */ job) => {
    const runner = await contestant.open(job)
    const sample = async () => {
      const taken = await runner.sample()
      await runner.ready()
      await sleep(SETTLE_MS)
      return taken
    }
    return { ...runner, sample }
  }
  return { contestant: { ...contestant, open }, ms }
}

/** @param {import('./options.mjs').Options} options */
export async function benchWalls({ quick, check, peers, json }) {
  const scratch = createScratch('cordon-bench')
  const job = { argv: /** @type {const} */ (['/bin/true']), cwd: path.join(scratch, 'workspace') }
  mkdirSync(job.cwd)
  const { entrants, absent } = await findAmong(Object.entries(FINDERS), { peers, scratch, trial: job })
  const report = emptyReport(entrants, absent)
  const progress = createProgress()
  report.start = await measureLatency({
    entrants: entrants.map(settling),
    job,
    ...(quick ? QUICK : FULL),
    stride: ({ contestant: { name } }) => (name === 'container' ? CONTAINER_STRIDE : 1),
    progress: progress.of('walls'),
  }).finally(progress.end)
  await Promise.all(entrants.map(({ contestant }) => contestant.close()))
  const { text, met } = judge(TARGETS, report)
  process.stdout.write(`${formatReport(report)}\n${text}`)
  if (json !== undefined) writeFileSync(json, JSON.stringify(report, undefined, 2) + '\n')
  if (check && !met) process.exitCode = 1
}
