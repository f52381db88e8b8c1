// npm run bench -- --store: calls through the store (asked for, claimed, completed), beside a database that is made to
// write as much and decides nothing; how soon an approved call begins; and all of it again with a million old calls.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { claimInvocations, completeInvocation, invokeTool, migrate, openPglite, openPostgres, speakingAs } from '../dist/store/index.js'
import { percentile } from './measure/statistics.mjs'
import { createScratch } from './scratch.mjs'
import { SCRIPT, TABLES, sameWrites } from './store/same-writes.mjs'
import { findServer, startServer } from './store/server.mjs'

const IN_FLIGHT = [1, 8, 64]
const FULL = { seconds: 6, starts: 200, old: 1_000_000 }
const QUICK = { seconds: 2, starts: 50, old: 100_000 }
const TARGET_START_MS = 10
const TARGET_FALL = 0.2

/**
 * @typedef {import('../dist/store/index.js').Engine} Engine
 * @typedef {Pick<Engine, 'query'>} Asking
 */

/**
 * A team with a tool that needs nobody's word, and one that does.
 * @param {Engine} engine
 */
async function foundTeam(engine) {
  const as = (/** @type {import('../dist/store/index.js').Role} */ role, /** @type {string} */ actor) => speakingAs(engine, { kind: 'gateway', role, actor })
  await as('service_role', 'founder').query('select agents.fn_add_member($1, $2, $3)', ['team', 'ada', 'admin'])
  const admin = as('cordon_admin', 'ada')
  for (const [name, kind] of [['agent-1', 'agent'], ['host-1', 'runner'], ['anna', 'operator']]) await admin.query('select agents.fn_add_member($1, $2, $3)', ['team', name, kind])
  const register = async (/** @type {string} */ key, /** @type {string} */ egress) => {
    const schema = { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false }
    const [row] = await admin.query('select agents.fn_register_tool(p_owner => $1, p_key => $2, p_name => $2, p_schema_input => $3, p_egress_class => $4, p_requires_approval => $5) as id', ['team', key, JSON.stringify(schema), egress, egress === 'write'])
    const id = String(/** @type {{ id: string }} */ (row).id)
    await admin.query('select agents.fn_assign_tool($1, $2)', ['agent-1', id])
    return id
  }
  const tools = { look: await register('look', 'none'), send: await register('send', 'write') }
  await as('cordon_runner', 'host-1').query('select agents.fn_heartbeat($1)', ['bench'])
  return tools
}

/**
 * One call from end to end.
 * @param {{ agent: Asking, runner: Asking, tool: string, dispatch: 'caller' | 'runners' }} by
 */
async function oneCall({ agent, runner, tool, dispatch }) {
  const id = await invokeTool(agent, { toolId: tool, agent: 'agent-1', input: { path: 'a' }, dispatch })
  const [claimed] = await claimInvocations(runner, 'bench', { id })
  if (claimed === undefined) throw new Error('the call was not claimed')
  await completeInvocation(runner, { id, fence: claimed.fence }, { status: 'completed', output: { ok: true } })
}

/**
 * @param {() => Promise<void>} once
 * @param {number} inFlight
 * @param {number} seconds
 * @returns {Promise<number>} per second
 */
async function rateOf(once, inFlight, seconds) {
  const began = performance.now()
  const until = began + seconds * 1000
  let count = 0
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (performance.now() < until) {
      await once()
      count += 1
    }
  }))
  return (count * 1000) / (performance.now() - began)
}

/**
 * From the word of a person to a call that has begun, at a runner that waits to be told.
 * @param {{ engine: Engine, agent: Asking, operator: Asking, runner: Asking, tool: string }} by
 * @param {number} count
 */
async function measureStarts({ engine, agent, operator, runner, tool }, count) {
  /** @type {(id: string) => void} */
  let ready = () => {}
  const stop = await engine.listen('tool_invocation_ready', id => ready(id))
  /** @type {number[]} */
  const samples = []
  for (let at = 0; at < count; at += 1) {
    const id = await invokeTool(agent, { toolId: tool, agent: 'agent-1', input: { path: 'a' } })
    let began = 0
    const started = new Promise(resolve => {
      ready = async told => {
        if (told !== id) return
        const [claimed] = await claimInvocations(runner, 'bench', { id })
        resolve(performance.now() - began)
        if (claimed === undefined) throw new Error('the call was not claimed')
        await completeInvocation(runner, { id, fence: claimed.fence }, { status: 'completed' })
      }
    })
    began = performance.now()
    await operator.query('select agents.fn_approve_tool_invocation($1)', [id])
    samples.push(/** @type {number} */ (await started))
  }
  await stop()
  return samples
}

/**
 * Old calls with their entries, as they would lie there: this month's, in the way of everything new.
 * @param {Engine} engine
 * @param {number} count
 */
async function addOld(engine, count) {
  await engine.execute(`
    set session_replication_role = replica;
    insert into agents.tool_invocations (id, created_at, owner, tool_id, tool_key, tool_version, egress_class, agent, invoked_by, input, input_hash, output, status, approval_status, approval_required, runner, fence, expires_at, completed_at)
      select o.id, agents.fn_time_of(o.id), i.owner, i.tool_id, i.tool_key, i.tool_version, i.egress_class, i.agent, i.invoked_by, i.input, i.input_hash, i.output, 'completed', 'not_required', false, i.runner, 1, i.expires_at, i.completed_at
      from (select * from agents.tool_invocations where status = 'completed' limit 1) i, generate_series(1, ${String(count)}) as n, lateral (select agents.fn_new_id() as id where n > 0) o;
    insert into agents.audit_events (at, chain, sequence, owner, subject, type, actor, line, previous_hash, hash)
      select e.at, n % 64, -n, e.owner, 'invocation:old-' || n, e.type, e.actor, e.line, e.previous_hash, e.hash from (select * from agents.audit_events limit 1) e, generate_series(1, ${String(count)}) as n;
    set session_replication_role = default;`)
  await engine.execute('vacuum analyze agents.tool_invocations')
  await engine.execute('vacuum analyze agents.audit_events')
}

/**
 * @param {string} name
 * @param {number[]} rates
 * @param {number[] | undefined} shares
 */
const line = (name, rates, shares) => `  ${name.padEnd(34)}${rates.map((rate, at) => `${rate.toFixed(0).padStart(7)}${(shares === undefined ? '' : `${(100 * (shares[at] ?? Number.NaN)).toFixed(0)}%`).padStart(6)}`).join('')}\n`

/** @param {{ quick: boolean, check: boolean }} options */
export async function benchStore({ quick, check }) {
  const { seconds, starts, old } = quick ? QUICK : FULL
  const bin = findServer()
  if (bin === undefined) throw new Error('PostgreSQL with pgbench is not installed: apt-get install postgresql')
  process.stdout.write(`calls per second: asked for, claimed, completed (${String(seconds)} s each)\n\n  ${'in flight'.padEnd(34)}${IN_FLIGHT.map(count => `${String(count).padStart(7)}      `).join('')}\n`)
  const folder = createScratch('cordon-bench-store')
  const server = startServer(bin, folder)
  process.on('exit', server.stop)
  const owner = openPostgres({ url: server.url(), connections: 4 })
  await migrate(owner)
  const tools = await foundTeam(owner)
  await owner.execute(`${TABLES} create role "agent-1" login in role cordon_agent; create role "host-1" login in role cordon_runner; create role anna login in role cordon_operator`)
  const script = path.join(folder, 'same-writes.sql')
  writeFileSync(script, SCRIPT)
  const engines = ['agent-1', 'host-1', 'anna'].map(login => openPostgres({ url: server.url(login), connections: 64 }))
  const [agent, runner, operator] = /** @type {[Engine, Engine, Engine]} */ (engines)
  /** @param {'caller' | 'runners'} dispatch */
  const by = dispatch => () => oneCall({ agent, runner, tool: tools.look, dispatch })

  const onServer = async (/** @type {'caller' | 'runners'} */ dispatch) => {
    const once = by(dispatch)
    /** @type {number[]} */ const rates = []
    /** @type {number[]} */ const bare = []
    for (const inFlight of IN_FLIGHT) {
      await rateOf(once, inFlight, 0.5)
      // In turns, half before and half after: what the machine does meanwhile falls on both.
      const first = server.pgbench(script, inFlight, seconds / 2)
      rates.push(await rateOf(once, inFlight, seconds))
      bare.push((first + server.pgbench(script, inFlight, seconds / 2)) / 2)
    }
    return { rates, bare, shares: rates.map((rate, at) => rate / (bare[at] ?? Number.NaN)) }
  }
  const young = await onServer('caller')
  process.stdout.write(line('PostgreSQL, the same writes', young.bare, undefined))
  process.stdout.write(line('PostgreSQL, run by the caller', young.rates, young.shares))
  const told = await onServer('runners')
  process.stdout.write(line('PostgreSQL, run by others', told.rates, told.shares))
  const begun = await measureStarts({ engine: runner, agent, operator, runner, tool: tools.send }, starts)
  await addOld(owner, old)
  const aged = await onServer('caller')
  process.stdout.write(line(`  the first, ${old.toLocaleString('en')} old calls`, aged.rates, aged.shares))
  await Promise.all([...engines, owner].map(engine => engine.close()))
  server.stop()

  const embedded = openPglite({ folder: path.join(folder, 'embedded') })
  await migrate(embedded)
  const own = await foundTeam(embedded)
  await embedded.execute(TABLES)
  const here = { agent: speakingAs(embedded, { kind: 'gateway', role: 'cordon_agent', actor: 'agent-1' }), runner: speakingAs(embedded, { kind: 'gateway', role: 'cordon_runner', actor: 'host-1' }), tool: own.look, dispatch: /** @type {const} */ ('caller') }
  const write = sameWrites(embedded)
  /** @type {number[]} */ const plain = []
  /** @type {number[]} */ const through = []
  for (const inFlight of IN_FLIGHT) {
    plain.push(await rateOf(write, inFlight, seconds / 2))
    through.push(await rateOf(() => oneCall(here), inFlight, seconds / 2))
  }
  process.stdout.write(line('embedded, the same writes', plain, undefined))
  process.stdout.write(line('embedded', through, through.map((rate, at) => rate / (plain[at] ?? Number.NaN))))
  await embedded.close()

  const p50 = percentile(begun, 0.5)
  const falls = aged.shares.map((share, at) => 1 - share / (young.shares[at] ?? Number.NaN))
  const worst = Math.max(...falls)
  process.stdout.write(`\nfrom approval to start: p50 ${p50.toFixed(1)} ms, p95 ${percentile(begun, 0.95).toFixed(1)} ms (target: p50 below ${String(TARGET_START_MS)}: ${p50 < TARGET_START_MS ? 'met' : 'missed'})\n`)
  process.stdout.write(`with ${old.toLocaleString('en')} old calls the share falls by ${(100 * worst).toFixed(0)}% at most (target: ${String(100 * TARGET_FALL)}%: ${worst <= TARGET_FALL ? 'met' : 'missed'})\n`)
  if (check && (p50 >= TARGET_START_MS || worst > TARGET_FALL)) process.exitCode = 1
}
