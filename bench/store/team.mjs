// A team with an agent, a runner and somebody who approves, and one call of theirs.
import { randomUUID } from 'node:crypto'
import { beginInvocation, claimInvocations, completeInvocation, invokeTool, speakingAs } from '@cordon/team/store'

/**
 * @typedef {import('@cordon/team/store').Engine} Engine
 * @typedef {Pick<Engine, 'query'>} Asking
 */

export const TEAM = 'team'
export const RUNNER = 'bench'

/**
 * With a tool that needs nobody's word (`look`), and one that does (`send`).
 * @param {Engine} engine
 */
export async function foundTeam(engine) {
  const as = (/** @type {import('@cordon/team/store').Role} */ role, /** @type {string} */ actor) =>
    speakingAs(engine, { kind: 'gateway', role, actor })
  await as('service_role', 'founder').query('select agents.fn_add_member($1, $2, $3)', [TEAM, 'ada', 'admin'])
  const admin = as('cordon_admin', 'ada')
  for (const [name, kind] of [
    ['agent-1', 'agent'],
    ['host-1', 'runner'],
    ['anna', 'operator'],
  ])
    await admin.query('select agents.fn_add_member($1, $2, $3)', [TEAM, name, kind])
  const register = async (/** @type {string} */ key, /** @type {string} */ egress) => {
    const schema = { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false }
    const [row] = await admin.query(
      'select agents.fn_register_tool(p_owner => $1, p_key => $2, p_name => $2, p_schema_input => $3, ' +
        'p_egress_class => $4, p_requires_approval => $5) as id',
      [TEAM, key, JSON.stringify(schema), egress, egress === 'write'],
    )
    const id = String(/** @type {{ id: string }} */ (row).id)
    await admin.query('select agents.fn_assign_tool($1, $2)', ['agent-1', id])
    return id
  }
  const tools = { look: await register('look', 'none'), send: await register('send', 'write') }
  await as('cordon_runner', 'host-1').query('select agents.fn_heartbeat($1)', [RUNNER])
  await as('cordon_agent', 'agent-1').query('select agents.fn_heartbeat($1)', [RUNNER])
  return tools
}

/** Logins of a server, by the names that the team knows. */
export const LOGINS =
  'create role "agent-1" login in role cordon_agent; create role "host-1" login in role cordon_runner; ' +
  'create role anna login in role cordon_operator'

const REQUEST = { agent: 'agent-1', input: { path: 'a' } }

/**
 * By who asked: asked for and claimed, completed. Two transactions.
 * @param {{ agent: Asking, tool: string }} by
 */
export async function ownCall({ agent, tool }) {
  const request = { ...REQUEST, toolId: tool, version: 1, runner: RUNNER, request: randomUUID() }
  const begun = await beginInvocation(agent, request)
  if (begun.status !== 'running') throw new Error(`the call is ${begun.status}`)
  await completeInvocation(agent, begun, { status: 'completed', output: { ok: true } })
}

/**
 * By a runner of the queue: asked for, claimed, completed. Three transactions.
 * @param {{ agent: Asking, runner: Asking, tool: string }} by
 */
export async function queuedCall({ agent, runner, tool }) {
  await runCall(runner, await invokeTool(agent, { ...REQUEST, toolId: tool, dispatch: 'runners' }))
}

/**
 * @param {Asking} runner
 * @param {string} id
 * @param {() => void} begun
 */
export async function runCall(runner, id, begun = () => {}) {
  const [claimed] = await claimInvocations(runner, RUNNER, { id })
  begun()
  if (claimed === undefined) throw new Error('the call was not claimed')
  await completeInvocation(runner, { id, fence: claimed.fence }, { status: 'completed', output: { ok: true } })
}
