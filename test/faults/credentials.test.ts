// A runner that puts credentials of its team into requests: from an admin's command line to a server that asks for them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { loadToolFiles, registrationOf, startRunner } from '../../src/runtime/index.js'
import type { Runner } from '../../src/runtime/index.js'
import { addMember, assignTool, findInvocation, installQueue, invokeTool, migrate, openPostgres, parseSealingKey, registerTool, speakingAs } from '../../src/store/index.js'
import type { Engine, Role } from '../../src/store/index.js'
import { echo, serverAuthority, startHttps } from '../egress/servers.js'
import { startServer } from '../store/server.js'
import type { Server } from '../store/server.js'

const CORDON = join(import.meta.dirname, '..', '..', 'bin', 'cordon.js')
const HOST = 'api.test'
const VALUE = 'value-of-a-credential-1f2e3d'
const heard: unknown[] = []

let database: Server
let engine: Engine
let api: Awaited<ReturnType<typeof startHttps>>
let base: string
let runner: Runner | undefined
const as = (role: Role, actor: string) => speakingAs(engine, { kind: 'gateway', role, actor })

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'cordon-credentials-'))
  mkdirSync(join(base, 'workspace'))
  api = await startHttps((request, response) => {
    heard.push(request.headers.authorization)
    echo(request, response)
  }, { host: HOST })
  database = startServer()
  engine = openPostgres({ url: database.url() })
  await migrate(engine)
  await installQueue(engine, database.url())
  await engine.execute('create role "ada" login in role cordon_admin; create role "hosts" login in role cordon_runner')
  await addMember(as('service_role', 'founder'), 'team', 'ada', 'admin')
  for (const [actor, kind] of [['agent-1', 'agent'], ['hosts', 'runner']] as const) await addMember(as('cordon_admin', 'ada'), 'team', actor, kind)
}, 120_000)
afterAll(async () => {
  runner?.cancel()
  await runner?.drain()
  await engine.close()
  await api.close()
  database.remove()
  rmSync(base, { recursive: true, force: true })
})

const admin = (words: readonly string[], input?: string): string =>
  execFileSync(process.execPath, [CORDON, ...words], { encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], HOME: base, CORDON_DATABASE: database.url('ada'), CORDON_TEAM: 'team' } })

test('a credential that an admin put into the store reaches the server, and neither the tool nor the database', async () => {
  const place = `${HOST}:${String(api.port)}`
  const tools = join(base, 'tools.yaml')
  writeFileSync(tools, `
tools:
  - name: fetch
    description: reads from the API
    input: { type: object, additionalProperties: false }
    policy: { network: ["${place}"], egress_class: read_only, credentials: [{ id: api-token, inject: { host: "${place}", as: bearer } }] }
    command: [curl, -sS, --noproxy, "*", "https://${place}/"]
`)
  const key = join(base, 'key')
  expect(admin(['credentials', 'key', key])).toContain('keep a copy')
  expect(statSync(key).mode & 0o777).toBe(0o600)
  expect(() => admin(['credentials', 'key', key])).toThrow('cannot be written')
  expect(() => admin(['credentials', 'put', 'api-token'], VALUE)).toThrow('name the key')
  expect(() => admin(['credentials', 'put', 'api-token', '--key', key], '')).toThrow('empty')
  expect(admin(['credentials', 'put', 'api-token', '--key', key], `${VALUE}\n`)).toContain('store:team/api-token')
  expect(JSON.parse(admin(['credentials', 'list', '--json']))).toMatchObject([{ ref: 'api-token', storedBy: 'ada' }])
  expect(JSON.stringify(await engine.query('select * from agents.credentials'))).not.toContain(VALUE)

  const loaded = await loadToolFiles([tools])
  const [tool] = loaded
  if (tool === undefined) throw new Error('there is no tool')
  const id = await registerTool(as('cordon_admin', 'ada'), { ...registrationOf(tool, { workspace: join(base, 'workspace'), home: '/root' }), owner: 'team', requiresApproval: false, egressClass: 'read_only', credentialRef: 'api-token' })
  await assignTool(as('cordon_admin', 'ada'), 'agent-1', id)
  runner = await startRunner({
    url: database.url('hosts'), name: 'here', labels: [], concurrency: 2, tools: loaded, sealingKey: parseSealingKey(readFileSync(key, 'utf8'), key),
    runtime: {
      workspace: join(base, 'workspace'), environment: { PATH: process.env['PATH'] }, audit: { path: join(base, 'audit.jsonl') }, configFolder: join(base, 'config'),
      egress: { secrets: { 'api-token': 'store:team/api-token' }, authorities: [serverAuthority.certificate], pins: { [HOST]: ['127.0.0.1'] } },
    },
  })
  const call = await invokeTool(as('cordon_agent', 'agent-1'), { toolId: id, agent: 'agent-1', input: {} })
  await expect.poll(async () => (await findInvocation(engine, call))?.status, { timeout: 30_000 }).toBe('completed')
  expect(heard).toEqual([`Bearer ${VALUE}`])
  expect(JSON.stringify(await findInvocation(engine, call))).not.toContain(VALUE)
  expect(await engine.query(`select line::jsonb -> 'details' ->> 'invocation' as call from agents.audit_events where type = 'credential.resolved'`)).toEqual([{ call }])
})
