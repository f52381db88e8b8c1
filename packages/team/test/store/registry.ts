// A registry with people and tools, and ways to act as each of them.
import type { Engine } from '../../src/store/index.js'

export type Role = 'cordon_admin' | 'cordon_operator' | 'cordon_agent' | 'cordon_runner' | 'service_role'

export interface Actor {
  readonly query: <Row extends object>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>
  /** The first column of the first row. */
  readonly value: <Value>(sql: string, values?: readonly unknown[]) => Promise<Value>
}

/** Every statement is a transaction of its own, by this role, in this name. */
export const actorOf = (engine: Engine, role: Role, name: string): Actor => {
  const query: Actor['query'] = (sql, values = []) =>
    engine.transaction(async (inside) => {
      await inside.query(`select set_config('cordon.actor', $1, true)`, [name])
      await inside.execute(`set local role ${role}`)
      return inside.query(sql, values)
    })
  return {
    query,
    value: async (sql, values) =>
      Object.values((await query<Record<string, unknown>>(sql, values))[0] ?? {})[0] as never,
  }
}

export interface Registry {
  readonly admin: Actor
  readonly anna: Actor
  readonly otto: Actor
  readonly agent: Actor
  readonly runner: Actor
  readonly service: Actor
  readonly register: (key: string, more?: Readonly<Record<string, unknown>>) => Promise<string>
  readonly invoke: (tool: string, input?: object) => Promise<string>
  readonly statusOf: (id: string) => Promise<string>
}

const SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string', minLength: 1 }, count: { type: 'integer', minimum: 0 } },
  additionalProperties: false,
}

/** Anna and Otto are operators of the team; `agent-1` calls tools; `host-1` runs them. */
export const newRegistry = async (engine: Engine, owner: string): Promise<Registry> => {
  const service = actorOf(engine, 'service_role', 'founder')
  await service.query('select agents.fn_add_member($1, $2, $3)', [owner, 'ada', 'admin'])
  const admin = actorOf(engine, 'cordon_admin', 'ada')
  for (const [name, kind] of [
    ['anna', 'operator'],
    ['otto', 'operator'],
    ['agent-1', 'agent'],
    ['agent-1', 'operator'],
    ['agent-2', 'agent'],
    ['host-1', 'runner'],
  ] as const)
    await admin.query('select agents.fn_add_member($1, $2, $3)', [owner, name, kind])
  const agent = actorOf(engine, 'cordon_agent', 'agent-1')
  const runner = actorOf(engine, 'cordon_runner', 'host-1')
  await runner.query(`select agents.fn_heartbeat($1)`, [`${owner}-runner`])
  const register: Registry['register'] = async (key, more = {}) => {
    const given: Record<string, unknown> = {
      p_owner: owner,
      p_key: key,
      p_name: key,
      p_schema_input: JSON.stringify(SCHEMA),
      ...more,
    }
    const names = Object.keys(given)
    const id = await admin.value<string>(
      `select agents.fn_register_tool(${names.map((name, at) => `${name} => $${String(at + 1)}`).join(', ')})`,
      Object.values(given),
    )
    await admin.query('select agents.fn_assign_tool($1, $2)', ['agent-1', id])
    return id
  }
  return {
    admin,
    agent,
    runner,
    service,
    register,
    anna: actorOf(engine, 'cordon_operator', 'anna'),
    otto: actorOf(engine, 'cordon_operator', 'otto'),
    invoke: (tool, input = { path: 'a' }) =>
      agent.value('select agents.fn_invoke_tool(null, $1, $2, $3)', [tool, 'agent-1', JSON.stringify(input)]),
    statusOf: async (id) =>
      (await engine.query<{ status: string }>('select status from agents.tool_invocations where id = $1', [id]))[0]
        ?.status ?? 'missing',
  }
}
