// npm run bench -- --store: calls through the store (asked for, claimed, completed), beside a database that is made to
// write as much and decides nothing; how soon an approved call begins; all of it again with a million old calls; and
// how long the first use of an embedded store takes.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { findServerPrograms, startServer } from '../scripts/postgres-server.mjs'
import { installQueue, migrate, openPglite, openPostgres, speakingAs } from '@cordon/team/store'
import { percentile } from './measure/statistics.mjs'
import { judge } from './report/targets.mjs'
import { createScratch } from './scratch.mjs'
import { measureFirstUse } from './store/first-use.mjs'
import { addOldCalls } from './store/old-calls.mjs'
import { pgbench } from './store/pgbench.mjs'
import { compareRates, rateOf } from './store/rates.mjs'
import { formatStore } from './store/report.mjs'
import { TABLES, sameWrites, scriptOf } from './store/same-writes.mjs'
import { startsByListening, startsByQueue } from './store/starts.mjs'
import { STORE_TARGETS } from './store/targets.mjs'
import { LOGINS, foundTeam, ownCall, queuedCall } from './store/team.mjs'
import { writesOf } from './store/writes.mjs'

const IN_FLIGHT = [1, 8, 64]
const FULL = { seconds: 6, starts: 200, old: 1_000_000, uses: 15 }
const QUICK = { seconds: 2, starts: 30, old: 20_000, uses: 3 }
const COUNTED = 200

/**
 * @typedef {import('@cordon/team/store').Engine} Engine
 * @typedef {import('./store/rates.mjs').Rates} Rates
 * @typedef {{ p50: number, p95: number }} Spread
 * @typedef {{ here: Rates, byRunners: Rates, listening: Spread, queue: Spread }} Round calls run by who asked, and by
 * any runner of the queue
 *
 * @typedef {object} StoreReport
 * @property {readonly number[]} inFlight
 * @property {number} seconds
 * @property {{ call: import('./store/writes.mjs').Writes, same: import('./store/writes.mjs').Writes }} writes
 * @property {Round} young on the server
 * @property {Round} aged the same, with old calls
 * @property {{ count: number, loadedInMs: number }} old
 * @property {Rates} embedded
 * @property {{ first: Spread, again: Spread, runtime: Spread, uses: number }} use in milliseconds
 */

/** @param {readonly number[]} samples */
const spread = (samples) => ({ p50: percentile(samples, 0.5), p95: percentile(samples, 0.95) })

/** @param {string} under a folder on a disk @param {(said: string) => void} tell @param {typeof FULL} size */
async function measureServer(under, tell, { seconds, starts, old }) {
  const server = startServer({ disk: 'waited for', under })
  process.on('exit', server.remove)
  const owner = openPostgres({ url: server.url(), connections: 1 })
  await migrate(owner)
  await installQueue(owner, server.url())
  const tools = await foundTeam(owner)
  await owner.execute(`${TABLES} ${LOGINS}`)
  const scripts = { own: path.join(server.folder, 'own.sql'), queued: path.join(server.folder, 'queued.sql') }
  for (const way of /** @type {const} */ (['own', 'queued'])) writeFileSync(scripts[way], scriptOf(way))
  const open = () =>
    ['agent-1', 'host-1', 'anna'].map((login) => openPostgres({ url: server.url(login), connections: 64 }))
  const close = (/** @type {Engine[]} */ engines) => Promise.all(engines.map((engine) => engine.close()))

  tell('what a call writes')
  const counted = /** @type {[Engine, Engine, Engine]} */ (open())
  for (let at = 0; at < COUNTED; at += 1) await ownCall({ agent: counted[0], tool: tools.look })
  await close(counted)
  const again = /** @type {[Engine, Engine, Engine]} */ (open())
  const writes = {
    call: await writesOf(owner, COUNTED, async () => {
      for (let at = 0; at < COUNTED; at += 1) await ownCall({ agent: again[0], tool: tools.look })
      await close(again)
    }),
    same: await writesOf(owner, COUNTED, () => pgbench(server, scripts.own, { clients: 1, transactions: COUNTED })),
  }

  const engines = open()
  const [agent, runner, operator] = /** @type {[Engine, Engine, Engine]} */ (engines)
  const people = { agent, runner, operator, tool: tools.send }
  const ratesOf = (/** @type {'own' | 'queued'} */ way) =>
    compareRates({
      inFlight: IN_FLIGHT,
      seconds,
      bare: (clients, time) => pgbench(server, scripts[way], { clients, seconds: time }),
      once: () =>
        way === 'own' ? ownCall({ agent, tool: tools.look }) : queuedCall({ agent, runner, tool: tools.look }),
    })
  /** @returns {Promise<Round>} */
  const round = async () => {
    const rates = { here: await ratesOf('own'), byRunners: await ratesOf('queued') }
    // They were claimed by their ids, and nobody took them out of the queue.
    await owner.execute('delete from cordon_queue._private_jobs')
    await owner.execute('vacuum cordon_queue._private_jobs')
    return {
      ...rates,
      listening: spread(await startsByListening(people, starts)),
      queue: spread(await startsByQueue(people, starts, server.url('host-1'))),
    }
  }
  tell('calls on a server')
  const young = await round()
  tell(`${old.toLocaleString('en')} old calls are put there`)
  const began = performance.now()
  await addOldCalls(owner, old)
  const loadedInMs = performance.now() - began
  tell('calls on a server with them')
  const aged = await round()
  await close([...engines, owner])
  server.remove()
  return { writes, young, aged, old: { count: old, loadedInMs } }
}

/** @param {string} folder @param {typeof FULL} size */
async function measureEmbedded(folder, { seconds }) {
  const engine = openPglite({ folder })
  await migrate(engine)
  const tools = await foundTeam(engine)
  await engine.execute(TABLES)
  const agent = speakingAs(engine, { kind: 'gateway', role: 'cordon_agent', actor: 'agent-1' })
  const write = sameWrites(engine)
  const rates = await compareRates({
    inFlight: IN_FLIGHT,
    seconds,
    once: () => ownCall({ agent, tool: tools.look }),
    bare: (count, time) => rateOf(write, count, time),
  })
  await engine.close()
  return rates
}

/** @param {Pick<import('./options.mjs').Options, 'quick' | 'check' | 'json'>} options */
export async function benchStore({ quick, check, json }) {
  const programs = findServerPrograms()
  if (programs === undefined) throw new Error('PostgreSQL with pgbench is not installed: apt-get install postgresql')
  const size = quick ? QUICK : FULL
  const tell = (/** @type {string} */ said) => process.stderr.write(`bench: ${said}\n`)
  const folder = createScratch('cordon-bench-store')
  // What others wrote before is not waited for in the middle of it.
  execFileSync('sync')
  tell('first use of an embedded store')
  const { first, again } = measureFirstUse(folder, size.uses)
  const use = {
    first: spread(first.map(({ answeredMs }) => answeredMs)),
    again: spread(again.map(({ answeredMs }) => answeredMs)),
    runtime: spread(again.map(({ runtimeMs }) => runtimeMs)),
    uses: size.uses,
  }
  // Beside it and not in it, where a user of its own could not get to.
  const served = await measureServer(path.dirname(folder), tell, size)
  tell('calls in an embedded store')
  /** @type {StoreReport} */
  const report = {
    inFlight: IN_FLIGHT,
    seconds: size.seconds,
    ...served,
    embedded: await measureEmbedded(path.join(folder, 'embedded'), size),
    use,
  }
  process.stdout.write(formatStore(report))
  if (json !== undefined) writeFileSync(json, JSON.stringify(report, undefined, 2) + '\n')
  const { text, met } = judge(STORE_TARGETS, report)
  process.stdout.write(`\n${text}`)
  if (check && !met) process.exitCode = 1
}
