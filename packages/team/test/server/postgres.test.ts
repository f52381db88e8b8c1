// A server on PostgreSQL, with a login that has only the documented roles.
import { afterAll, beforeAll, expect, test } from 'vitest'

import { serveStore } from '../../src/server/index.js'
import type { ServedStore } from '../../src/server/index.js'
import { addMember, migrate, openPostgres, openRemoteAccess, speakingAs } from '../../src/store/index.js'
import type { Engine, StoreAccess } from '../../src/store/index.js'
import { startServer } from '../store/server.js'

const database = startServer()
let owner: Engine
let served: ServedStore
const opened: StoreAccess[] = []
const reported: unknown[] = []

beforeAll(async () => {
  owner = openPostgres({ url: database.url() })
  await migrate(owner)
  await owner.execute(
    'create role cordon_serve login in role cordon_gateway, cordon_admin, cordon_operator, cordon_agent, cordon_runner',
  )
  await addMember(
    speakingAs(owner, { kind: 'gateway', role: 'service_role', actor: 'founder' }),
    'acme',
    'ada',
    'admin',
  )
  served = await serveStore({
    engine: openPostgres({ url: database.url('cordon_serve') }),
    version: '0',
    listen: { host: '127.0.0.1', port: 0 },
    ownerName: 'ada',
    report: (error) => reported.push(error),
  })
})
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()))
  await served.close()
  await owner.close()
  database.remove()
})

/** With a token that an admin makes. */
const as = async (actor: string): Promise<StoreAccess> => {
  const [row] = await speakingAs(owner, { kind: 'gateway', role: 'cordon_admin', actor: 'ada' }).query<{ id: string }>(
    `select agents.fn_create_token('acme', $1, encode(sha256(convert_to($2, 'UTF8')), 'hex')) as id`,
    [actor, tokenOf(actor)],
  )
  expect(row?.id).toBeDefined()
  const access = openRemoteAccess({ server: served.addresses[0] ?? '', token: tokenOf(actor) })
  opened.push(access)
  return access
}
const tokenOf = (actor: string): string => `cordon_${actor.padEnd(43, 'x')}`

test('a call goes from its agent through a person to its runner, each with a token', async () => {
  const ada = await as('ada')
  for (const [actor, kind] of [
    ['anna', 'operator'],
    ['agent-1', 'agent'],
    ['host-1', 'runner'],
  ] as const)
    await ada.ask('addMember', { team: 'acme', actor, kind })
  await ada.ask('registerTool', { team: 'acme', key: 'send', egressClass: 'write' })
  await ada.ask('assignTool', { team: 'acme', tool: 'send', agent: 'agent-1' })
  const [agent, anna, runner] = [await as('agent-1'), await as('anna'), await as('host-1')]
  const { id } = await agent.ask('invoke', { team: 'acme', tool: 'send', agent: 'agent-1', input: { n: 1 } })
  const known = (await agent.follow('findInvocation', { id }, { waitMs: 0 }))?.mark ?? ''
  const told = agent.follow('findInvocation', { id }, { waitMs: 30_000, known })
  const { question } = await anna.ask('showQuestion', { id })
  await expect(agent.ask('approve', { id, shownHash: question.argumentsHash })).rejects.toMatchObject({
    code: 'request-refused',
  })
  expect(await anna.ask('approve', { id, shownHash: question.argumentsHash })).toEqual({ status: 'approved' })
  expect((await told)?.answer).toMatchObject({ status: 'approved', approvalDecidedBy: 'anna' })
  await runner.ask('heartbeat', { runner: 'host-1' })
  const [claimed] = await runner.ask('claim', { runner: 'host-1', id })
  await runner.ask('complete', { id, fence: claimed?.fence ?? '', status: 'completed', output: { sent: true } })
  const { invocation, events } = await anna.ask('explainInvocation', { id })
  expect(invocation).toMatchObject({ status: 'completed', output: { sent: true } })
  expect(events.map(({ type, actor }) => `${type} ${actor}`)).toEqual([
    'invocation.asked agent-1',
    'invocation.approved anna',
    'invocation.started host-1',
    'invocation.completed host-1',
  ])
})

test('the login of the server cannot create a team, bypass a function or see a row by itself', async () => {
  const login = openPostgres({ url: database.url('cordon_serve') })
  await expect(login.query(`update agents.tool_invocations set status = 'approved'`)).rejects.toMatchObject({
    code: 'store-refused',
  })
  await expect(login.query('select hash from agents.tokens')).rejects.toMatchObject({ code: 'store-refused' })
  await expect(
    speakingAs(login, { kind: 'gateway', role: 'service_role', actor: 'ada' }).query(
      `select agents.fn_add_member('new', 'ada', 'admin')`,
    ),
  ).rejects.toMatchObject({ code: 'store-refused' })
  expect(await login.query('select id from agents.tool_invocations')).toEqual([])
  await login.close()
  expect(reported).toEqual([])
})
