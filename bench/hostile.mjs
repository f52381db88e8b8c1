// npm run bench -- --hostile: honest calls alone, then beside hostile tools in the same runtime, then alone again.
// Reports the lag of the event loop, how much slower honest calls get, and the memory of the host process.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCordon } from 'cordon'
import { watchLag } from './hostile/lag.mjs'
import { HOST } from './hostile/scene.mjs'
import { honestJobs, hostileJobs } from './hostile/tools.mjs'
import { median, percentile } from './measure/statistics.mjs'
import { judge } from './report/targets.mjs'
import { createScratch } from './scratch.mjs'

/** Hostile calls in flight. With more than one per core, honest calls would wait for processors alone. */
const HOSTILE_LANES = 2
const PAUSE_MS = 20

/**
 * @typedef {object} Report
 * @property {number} seconds
 * @property {Record<string, { calls: number, failed: number, quietP95: number, hostileP95: number, ratio: number }>}
 * honest milliseconds
 * @property {Record<string, Record<string, number>>} hostile calls by tool and status
 * @property {{ quietP99: number, hostileP99: number, hostileMax: number, bystanderP99: number }} lag milliseconds
 * @property {{ early: number, late: number, peak: number }} memory resident, in MB
 */

/** @type {readonly import('./report/targets.mjs').Target<Report>[]} */
const TARGETS = [
  // What a process that does nothing has to wait, too, is the machine's doing: a busy one, or one that is shared.
  {
    claim: 'event loop lag beside hostile tools, p99, beyond that of a bystander, ms',
    figure: ({ lag }) => Math.max(0, lag.hostileP99 - lag.bystanderP99),
    bound: 'at most',
    limit: 50,
  },
  ...['add', 'true', 'fetch'].map(
    (name) =>
      /** @type {import('./report/targets.mjs').Target<Report>} */ ({
        claim: `honest ${name} beside hostile tools, p95, × alone`,
        figure: ({ honest }) => honest[name]?.ratio,
        bound: 'at most',
        limit: 2,
      }),
  ),
  {
    claim: 'honest calls that failed',
    figure: ({ honest }) => Object.values(honest).reduce((sum, { failed }) => sum + failed, 0),
    bound: 'at most',
    limit: 0,
  },
  {
    claim: 'memory of the host process, last fifth beyond the second, MB',
    figure: ({ memory }) => memory.late - memory.early,
    bound: 'at most',
    limit: 48,
  },
]

/** @param {import('./options.mjs').Options} options */
export async function benchHostile({ quick, check, json, sustain }) {
  const report = await soak(sustain > 0 ? sustain : quick ? 60 : 600)
  process.stdout.write(format(report))
  if (json !== undefined) writeFileSync(json, JSON.stringify(report, undefined, 2) + '\n')
  const { text, met } = judge(TARGETS, report)
  process.stdout.write(`\n${text}`)
  if (check && !met) process.exitCode = 1
}

/**
 * @param {number} seconds
 * @returns {Promise<Report>}
 */
async function soak(seconds) {
  // In a session of its own: real servers take no processor time from the session of the host.
  const server = fork(new URL('hostile/server.mjs', import.meta.url), { detached: true })
  const bystander = fork(new URL('hostile/lag.mjs', import.meta.url))
  try {
    return await soakBeside(seconds, server, bystander)
  } finally {
    server.kill()
    bystander.kill()
  }
}

/**
 * @param {number} seconds
 * @param {import('node:child_process').ChildProcess} server
 * @param {import('node:child_process').ChildProcess} bystander
 * @returns {Promise<Report>}
 */
async function soakBeside(seconds, server, bystander) {
  const folder = createScratch('cordon-hostile')
  const ground = path.join(folder, 'ground')
  mkdirSync(ground)
  const [{ port, certificate }] = await once(server, 'message')
  const honest = honestJobs(port)
  const hostile = hostileJobs(port, ground)
  const cordon = await createCordon({
    workspace: folder,
    mode: 'on_request',
    audit: { path: path.join(folder, 'log', 'audit.jsonl') },
    egress: { authorities: [certificate], pins: { [HOST]: ['127.0.0.1'] } },
    tools: [...honest, ...hostile].map((job) => job.tool),
  })
  try {
    await honestWork(cordon, honest, 2) // what only the first calls cost is not measured
    const before = await watched(honestWork(cordon, honest, seconds / 10))
    const statuses = hostileWork(cordon, hostile, seconds)
    await lagOf(bystander) // of the quiet part
    const beside = await watched(honestWork(cordon, honest, seconds))
    const { p99: bystanderP99 } = await lagOf(bystander)
    const hostileStatuses = await statuses
    const after = await watched(honestWork(cordon, honest, seconds / 10))
    return summarise(seconds, before, beside, after, hostileStatuses, bystanderP99)
  } finally {
    await cordon.close()
  }
}

/**
 * The lag of another process since it was last asked.
 * @param {import('node:child_process').ChildProcess} watching
 * @returns {Promise<{ p99: number }>}
 */
async function lagOf(watching) {
  watching.send('how late')
  const [lag] = await once(watching, 'message')
  return lag
}

/** @typedef {Record<string, { times: number[], failed: number }>} Times */

/**
 * One call at a time, of each tool in turn.
 * @param {Awaited<ReturnType<typeof createCordon>>} cordon
 * @param {readonly import('./hostile/tools.mjs').Job[]} jobs
 * @param {number} seconds
 */
async function honestWork(cordon, jobs, seconds) {
  /** @type {Times} */
  const work = Object.fromEntries(jobs.map(({ name }) => [name, { times: [], failed: 0 }]))
  const end = performance.now() + seconds * 1000
  for (let at = 0; performance.now() < end; at++) {
    const { name, input } = jobs[at % jobs.length] ?? jobs[0] ?? { name: '', input: {} }
    const began = performance.now()
    const { status, facts } = await cordon.call(name, input, { session: 'honest' })
    work[name]?.times.push(performance.now() - began)
    if (status !== 'ok') {
      process.stderr.write(`honest ${name}: ${status}: ${JSON.stringify(facts.error ?? facts.violations)}\n`)
      if (work[name] !== undefined) work[name].failed++
    }
    await sleep(PAUSE_MS)
  }
  return work
}

/**
 * @param {Awaited<ReturnType<typeof createCordon>>} cordon
 * @param {readonly import('./hostile/tools.mjs').Job[]} jobs
 * @param {number} seconds
 */
async function hostileWork(cordon, jobs, seconds) {
  /** @type {Record<string, Record<string, number>>} */
  const statuses = {}
  const end = performance.now() + seconds * 1000
  let next = 0
  const lane = async () => {
    while (performance.now() < end) {
      const { name, input } = jobs[next++ % jobs.length] ?? jobs[0] ?? { name: '', input: {} }
      const { status } = await cordon.call(name, input, { session: `hostile-${next}` })
      const of = (statuses[name] ??= {})
      of[status] = (of[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: HOSTILE_LANES }, lane))
  return statuses
}

/**
 * The lag of the event loop and the memory of this process while some work is done.
 * @param {Promise<Times>} work
 */
async function watched(work) {
  /** @type {number[]} */
  const memory = []
  const sampler = setInterval(() => memory.push(process.memoryUsage.rss() / 2 ** 20), 500)
  const endLag = watchLag()
  const times = await work
  clearInterval(sampler)
  return { times, memory, ...endLag() }
}

/**
 * @param {number} seconds
 * @param {Awaited<ReturnType<typeof watched>>} before
 * @param {Awaited<ReturnType<typeof watched>>} beside
 * @param {Awaited<ReturnType<typeof watched>>} after
 * @param {Record<string, Record<string, number>>} hostile
 * @param {number} bystanderP99
 * @returns {Report}
 */
function summarise(seconds, before, beside, after, hostile, bystanderP99) {
  const honest = Object.fromEntries(
    Object.entries(beside.times).map(([name, { times, failed }]) => {
      const quietP95 = percentile([...(before.times[name]?.times ?? []), ...(after.times[name]?.times ?? [])], 0.95)
      const hostileP95 = percentile(times, 0.95)
      return [name, { calls: times.length, failed, quietP95, hostileP95, ratio: hostileP95 / quietP95 }]
    }),
  )
  const fifth = (/** @type {number} */ which) =>
    median(
      beside.memory.slice(
        Math.floor((beside.memory.length * which) / 5),
        Math.ceil((beside.memory.length * (which + 1)) / 5),
      ),
    )
  return {
    seconds,
    honest,
    hostile,
    lag: { quietP99: Math.max(before.p99, after.p99), hostileP99: beside.p99, hostileMax: beside.max, bystanderP99 },
    memory: { early: fifth(1), late: fifth(4), peak: Math.max(...beside.memory) },
  }
}

/** @param {Report} report */
function format({ seconds, honest, hostile, lag, memory }) {
  const lines = [
    `${seconds} s beside hostile tools`,
    ...Object.entries(honest).map(
      ([name, { calls, failed, quietP95, hostileP95, ratio }]) =>
        `  honest ${name.padEnd(8)} ${String(calls).padStart(6)} calls, ${failed} failed, p95 ` +
        `${quietP95.toFixed(1)} ms alone, ${hostileP95.toFixed(1)} ms beside: ${ratio.toFixed(2)} x`,
    ),
    ...Object.entries(hostile).map(
      ([name, statuses]) =>
        `  hostile ${name.padEnd(20)} ${Object.entries(statuses)
          .map(([status, count]) => `${status} ${count}`)
          .join(', ')}`,
    ),
    `  event loop lag: p99 ${lag.quietP99.toFixed(1)} ms alone, ${lag.hostileP99.toFixed(1)} ms beside, ` +
      `longest ${lag.hostileMax.toFixed(0)} ms; of a process that does nothing: p99 ` +
      `${lag.bystanderP99.toFixed(1)} ms`,
    `  memory: ${memory.early.toFixed(0)} MB early, ${memory.late.toFixed(0)} MB late, ` +
      `${memory.peak.toFixed(0)} MB at most`,
  ]
  return lines.join('\n') + '\n'
}
