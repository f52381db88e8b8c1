import { mkdirSync } from 'node:fs'
import { availableParallelism, loadavg, release } from 'node:os'
import path from 'node:path'
import { findContestants } from './contestants/index.mjs'
import { measureCommands } from './measure/commands.mjs'
import { measureIdle } from './measure/idle.mjs'
import { measureLatency } from './measure/latency.mjs'
import { measureIdleMemory } from './measure/memory.mjs'
import { measureRate } from './measure/rate.mjs'
import { createScratch } from './scratch.mjs'
import { prepareWork } from './jobs/index.mjs'

/**
 * Everything a run found out, and nothing that names the machine.
 * @typedef {object} Report
 * @property {{ kernel: string, arch: string, cpus: number, node: string, load: number, hostBytes: number }} machine
 * load: of the minute before
 * @property {{ name: string, title: string, role: string }[]} contestants
 * @property {{ name: string, reason: string }[]} absent
 * @property {Record<string, import('./measure/latency.mjs').Latency>} start
 * @property {Record<string, import('./measure/rate.mjs').Rate>[]} rates one per number of calls in flight
 * @property {import('./measure/commands.mjs').Command[]} commands
 * @property {number | undefined} hostBytes of an idle local host
 * @property {import('./measure/idle.mjs').Idle[]} idle
 * @property {{ name: string, title: string, results: Record<string, import('./measure/latency.mjs').Latency> }[]} work
 * @property {import('./measure/memory.mjs').Memory | undefined} memory
 */

const FULL = { blocks: 10, rounds: 25, sliceMs: 400, workRounds: 21, commandRounds: 5, idleMinutes: 5 }
const QUICK = { blocks: 5, rounds: 12, sliceMs: 150, workRounds: 5, commandRounds: 2, idleMinutes: 0.25 }
const IN_FLIGHT = [1, 8]

/**
 * @param {import('./options.mjs').Options} options
 * @param {(title: string) => (done: number, of: number) => void} progress
 * @returns {Promise<Report>}
 */
export async function runBench(options, progress) {
  const size = options.quick ? QUICK : FULL
  const scratch = createScratch('cordon-bench')
  const job = { argv: /** @type {const} */ (['/bin/true']), cwd: path.join(scratch, 'workspace') }
  mkdirSync(job.cwd)
  const ballast = Array.from({ length: options.hostMemory }, () => Buffer.alloc(2 ** 20, 1))
  const { entrants, absent } = await findContestants({
    names: options.contestants,
    peers: options.peers,
    scratch,
    trial: job,
  })
  const has = (/** @type {string} */ name) => options.measurements.has(name)
  const report = emptyReport(entrants, absent)

  if (has('start')) {
    // A call of tens of milliseconds needs fewer samples for a steady median.
    const stride = (/** @type {import('./contestants/index.mjs').Entrant} */ { contestant, ms }) =>
      contestant.role === 'peer' ? Math.min(8, Math.max(1, Math.ceil(ms / 20))) : 1
    report.start = await measureLatency({ entrants, job, ...size, stride, progress: progress('start') })
  }
  for (const inFlight of has('rate') ? IN_FLIGHT : []) {
    report.rates.push(
      await measureRate({ entrants, job, inFlight, ...size, progress: progress(`${inFlight} in flight`) }),
    )
  }
  const warm = entrants.find(({ contestant }) => contestant.name === 'cordon-warm')
  if (has('memory') && warm !== undefined) report.memory = await measureIdleMemory(warm.contestant, job)

  if (has('command')) {
    const plan = { cwd: job.cwd, blocks: size.blocks, rounds: size.commandRounds }
    Object.assign(report, await measureCommands({ ...plan, progress: progress('commands') }))
  }
  const kept = entrants.filter(({ contestant }) => ['cordon-call', 'cordon-function'].includes(contestant.name))
  if (has('idle') && kept.length > 0) {
    const plan = { contestants: kept.map(({ contestant }) => contestant), job, minutes: size.idleMinutes }
    report.idle = await measureIdle({ ...plan, progress: progress('idle') })
  }

  // Last, because collected output makes the host process bigger and so every spawn slower.
  const { works, absent: unprepared } = prepareWork({ names: options.measurements, scratch, quick: options.quick })
  report.absent.push(...unprepared)
  for (const { name, title, job: workJob, before } of works) {
    const results = await measureLatency({
      entrants: entrants.filter(({ contestant }) => contestant.works),
      job: workJob,
      ...(before === undefined ? {} : { before }),
      blocks: size.workRounds,
      rounds: 1,
      stride: ({ contestant }) => (contestant.role === 'peer' ? 3 : 1),
      progress: progress(name),
    })
    report.work.push({ name, title, results })
  }
  await Promise.all(entrants.map(({ contestant }) => contestant.close()))
  ballast.length = 0
  return withoutPaths(report, scratch)
}

/**
 * @param {readonly import('./contestants/index.mjs').Entrant[]} entrants
 * @param {Report['absent']} absent
 * @returns {Report}
 */
export function emptyReport(entrants, absent) {
  return {
    machine: machineFacts(),
    contestants: entrants.map(({ contestant: { name, title, role } }) => ({ name, title, role })),
    absent,
    start: {},
    rates: [],
    commands: [],
    hostBytes: undefined,
    idle: [],
    work: [],
    memory: undefined,
  }
}

function machineFacts() {
  return {
    kernel: release().match(/^\d+(\.\d+)*/)?.[0] ?? 'unknown',
    arch: process.arch,
    cpus: availableParallelism(),
    node: process.versions.node,
    load: loadavg()[0] ?? 0,
    hostBytes: process.memoryUsage.rss(),
  }
}

/**
 * Only failures quote what a program said, and it may have said where it is.
 * @param {Report} report
 * @param {string} scratch
 * @returns {Report}
 */
function withoutPaths(report, scratch) {
  const here = [scratch, process.cwd(), process.env['HOME'] ?? ''].filter((place) => place.length > 1)
  return JSON.parse(
    JSON.stringify(report, (key, value) => {
      if (key !== 'reason' && key !== 'failure') return value
      return here.reduce((text, place) => text.replaceAll(place, '…'), String(value))
    }),
  )
}
