// npm run bench -- --tools: a call of a function tool from end to end (decided, permitted, run in a cell,
// recorded), beside a bare spawn and a cold `node -e`, in turns.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tool, wasmTool } from 'cordon'
import { writeEmptyProgram } from './jobs/empty-program.mjs'
import { openRuntime } from './measure/runtime.mjs'
import { percentile } from './measure/statistics.mjs'

const TARGETS = { ofBare: 1.5, ofColdNode: 1 / 20, wasmOfFunction: 1.5 }
/** Long enough for the next Node process to stand ready: it is the call that is measured, not the making. */
const PAUSE_MS = 250
const WARM_UP = 500

/** @param {string} program @param {readonly string[]} words */
const spawned = (program, words) =>
  new Promise((resolve, reject) => {
    spawn(program, words, { stdio: 'ignore' }).once('exit', resolve).once('error', reject)
  })

/** @param {import('./options.mjs').Options} options */
export async function benchTools({ quick }) {
  const rounds = quick ? 15 : 60
  const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  const module = writeEmptyProgram(folder)
  const { cordon, close } = await openRuntime([
    wasmTool({ name: 'empty', module, policy: {} }),
    tool({ name: 'here', inProcess: true, policy: { risk: 'low' }, run: () => null }),
  ])
  const contestants = {
    'spawn /bin/true': () => spawned('/bin/true', []),
    'function tool, warm': () => expectOk(cordon.call('add', { a: 1, b: 2 })),
    'WASI tool, warm': () => expectOk(cordon.call('empty', {})),
    'process tool, warm': () => expectOk(cordon.call('true', {})),
    'node -e, cold': () => spawned(process.execPath, ['-e', '(({ a, b }) => a + b)({ a: 1, b: 2 })']),
  }
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
  try {
    // The host's own code is warm, too: what is measured is a call of an agent that has been running for a while.
    for (let call = 0; call < WARM_UP; call++) {
      await cordon.evaluate('add', { a: 1, b: 2 })
      await expectOk(cordon.call('here', { a: 1, b: 2 }))
    }
    for (let round = -2; round < rounds; round++) {
      for (const [name, run] of Object.entries(contestants)) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        const began = performance.now()
        await run()
        if (round >= 0) times[name]?.push(performance.now() - began)
      }
    }
  } finally {
    await close()
    rmSync(folder, { recursive: true })
  }
  /** @param {string} name */
  const p50 = (name) => percentile(times[name] ?? [], 0.5)
  const bare = p50('spawn /bin/true')
  for (const name of Object.keys(contestants)) {
    process.stdout.write(
      `${name.padEnd(22)} p50 ${p50(name).toFixed(2).padStart(8)} ms  p95 ${percentile(times[name] ?? [], 0.95)
        .toFixed(2)
        .padStart(8)} ms  ${(p50(name) / bare).toFixed(2)} x\n`,
    )
  }
  const warm = p50('function tool, warm')
  process.stdout.write(
    `function tool, warm: ${(warm / bare).toFixed(2)} x a bare spawn (target at most ${TARGETS.ofBare}), ` +
      `${(p50('node -e, cold') / warm).toFixed(1)} times as fast as a cold node -e (target at least ` +
      `${1 / TARGETS.ofColdNode})\n` +
      `WASI tool, warm: ${(p50('WASI tool, warm') / warm).toFixed(2)} x a function tool (target at most ` +
      `${TARGETS.wasmOfFunction})\n`,
  )
}

/** @param {Promise<import('cordon').ToolResult>} call */
async function expectOk(call) {
  const { status, facts } = await call
  if (status !== 'ok') throw new Error(`${status}: ${facts.error?.message}`)
}
