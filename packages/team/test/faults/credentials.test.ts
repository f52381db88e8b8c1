// A runner puts credentials of its team into requests: from an admin's command line to a server that requires them.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { CORDON } from '../../../../test/repository.js'
import { loadToolFiles, registrationOf, startRunner } from '@cordon/team'
import type { Runner } from '@cordon/team'
import {
  addMember,
  assignTool,
  installQueue,
  invokeTool,
  migrate,
  openPostgres,
  parseSealingKey,
  registerTool,
  requireInvocation,
  speakingAs,
} from '../../src/store/index.js'
import type { Engine, Role } from '../../src/store/index.js'
import { echo, serverAuthority, startHttp, startHttps } from '../../../core/test/egress/servers.js'
import { startServer } from '../store/server.js'
import type { Server } from '../store/server.js'

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
  api = await startHttps(
    (request, response) => {
      heard.push(request.headers.authorization)
      echo(request, response)
    },
    { host: HOST },
  )
  database = startServer()
  engine = openPostgres({ url: database.url() })
  await migrate(engine)
  await installQueue(engine, database.url())
  await engine.execute('create role "ada" login in role cordon_admin; create role "hosts" login in role cordon_runner')
  await addMember(as('service_role', 'founder'), 'team', 'ada', 'admin')
  for (const [actor, kind] of [
    ['agent-1', 'agent'],
    ['hosts', 'runner'],
  ] as const)
    await addMember(as('cordon_admin', 'ada'), 'team', actor, kind)
})
afterAll(async () => {
  runner?.cancel()
  await runner?.drain()
  await engine.close()
  await api.close()
  database.remove()
  rmSync(base, { recursive: true, force: true })
})

const admin = (words: readonly string[], input?: string): string =>
  execFileSync(process.execPath, [CORDON, ...words], {
    encoding: 'utf8',
    input,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: base, CORDON_DATABASE: database.url('ada'), CORDON_TEAM: 'team' },
  })

test('a stored credential reaches the server, but neither the tool nor the database', async () => {
  const place = `${HOST}:${String(api.port)}`
  const tools = join(base, 'tools.yaml')
  writeFileSync(
    tools,
    `
tools:
  - name: fetch
    description: reads from the API
    input: { type: object, additionalProperties: false }
    policy: { network: ["${place}"], egress_class: read_only, credentials: [{ id: api-token, inject: { host: "${place}", as: bearer } }] }
    command: [curl, -sS, --noproxy, "*", "https://${place}/"]
`,
  )
  const key = join(base, 'key')
  expect(admin(['team', 'credentials', 'key', key])).toContain('keep a copy')
  expect(statSync(key).mode & 0o777).toBe(0o600)
  expect(() => admin(['team', 'credentials', 'key', key])).toThrow('cannot be written')
  expect(() => admin(['team', 'credentials', 'put', 'api-token'], VALUE)).toThrow('name the key')
  expect(() => admin(['team', 'credentials', 'put', 'api-token', '--key', key], '')).toThrow('empty')
  expect(admin(['team', 'credentials', 'put', 'api-token', '--key', key], `${VALUE}\n`)).toContain(
    'store:team/api-token',
  )
  expect(JSON.parse(admin(['team', 'credentials', 'list', '--json']))).toMatchObject([
    { ref: 'api-token', storedBy: 'ada' },
  ])
  expect(JSON.stringify(await engine.query('select * from agents.credentials'))).not.toContain(VALUE)

  const loaded = await loadToolFiles([tools])
  const [tool] = loaded
  if (tool === undefined) throw new Error('there is no tool')
  const id = await registerTool(as('cordon_admin', 'ada'), {
    ...registrationOf(tool, { workspace: join(base, 'workspace'), home: '/root' }),
    owner: 'team',
    requiresApproval: false,
    egressClass: 'read_only',
    credentialRef: 'api-token',
  })
  await assignTool(as('cordon_admin', 'ada'), 'agent-1', id)
  runner = await startRunner({
    url: database.url('hosts'),
    name: 'here',
    labels: [],
    concurrency: 2,
    tools: loaded,
    sealingKey: parseSealingKey(readFileSync(key, 'utf8'), key),
    runtime: {
      workspace: join(base, 'workspace'),
      environment: { PATH: process.env['PATH'] },
      audit: { path: join(base, 'audit.jsonl') },
      configFolder: join(base, 'config'),
      egress: {
        secrets: { 'api-token': 'store:team/api-token' },
        authorities: [serverAuthority.certificate],
        pins: { [HOST]: ['127.0.0.1'] },
      },
    },
  })
  const call = await invokeTool(as('cordon_agent', 'agent-1'), { toolId: id, agent: 'agent-1', input: {} })
  await expect.poll(async () => (await requireInvocation(engine, call)).status).toBe('completed')
  expect(heard).toEqual([`Bearer ${VALUE}`])
  expect(JSON.stringify(await requireInvocation(engine, call))).not.toContain(VALUE)
  expect(
    await engine.query(
      `select line::jsonb -> 'details' ->> 'invocation' as call from agents.audit_events where type = ` +
        `'credential.resolved'`,
    ),
  ).toEqual([{ call }])
})

test(
  'cordon runner says which request went without its credential and which tool it leaves to others; a result ' +
    'that is not kept ends its call',
  async () => {
    const plainHeard: unknown[] = []
    const plain = await startHttp((request, response) => {
      plainHeard.push(request.headers.authorization)
      echo(request, response)
    })
    const place = (port: number) => `${HOST}:${String(port)}`
    const fetching = (name: string, scheme: string, port: number, credential: string) => `
  - name: ${name}
    description: reads from the API
    input: { type: object, additionalProperties: false }
    policy: { network: ["${place(port)}"], egress_class: read_only, credentials: [{ id: ${credential}, inject: { host: "${place(port)}", as: bearer } }] }
    command: [curl, -sS, --noproxy, "*", "${scheme}://${place(port)}/"]`
    const tools = join(base, 'more.yaml')
    writeFileSync(
      tools,
      `tools:${fetching('plain', 'http', plain.port, 'plain-token')}${fetching('whole', 'https', api.port, 'plain-token')}${fetching('unlisted', 'https', api.port, 'other-token')}
  - name: large
    description: says more than the store keeps
    input: { type: object, additionalProperties: false }
    policy: { limits: { output: 64M } }
    command: [sh, -c, "yes | head -c 20000000"]
`,
    )
    const files = { key: join(base, 'second-key'), value: join(base, 'value'), authority: join(base, 'authority.pem') }
    admin(['team', 'credentials', 'key', files.key])
    writeFileSync(files.value, VALUE, { mode: 0o600 })
    writeFileSync(files.authority, serverAuthority.certificate)
    const ids = new Map<string, string>()
    for (const tool of await loadToolFiles([tools])) {
      const id = await registerTool(as('cordon_admin', 'ada'), {
        ...registrationOf(tool, { workspace: join(base, 'workspace'), home: '/root' }),
        owner: 'team',
        requiresApproval: false,
      })
      await assignTool(as('cordon_admin', 'ada'), 'agent-1', id)
      ids.set(tool.definition.name, id)
    }
    const words = [
      'runner',
      '--database',
      database.url('hosts'),
      '--tools',
      tools,
      '--workspace',
      join(base, 'workspace'),
      '--key',
      files.key,
      '--secret',
      `plain-token=file:${files.value}`,
      '--secret',
      'other-token=store:team/other',
      '--resolve',
      `${HOST}=127.0.0.1`,
      '--upstream-ca',
      files.authority,
      '--json',
    ]
    const started = spawn(process.execPath, [CORDON, ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], HOME: base },
    })
    const news: {
      readonly kind: string
      readonly because?: string
      readonly tool?: string
      readonly invocation?: string
    }[] = []
    createInterface({ input: started.stdout }).on('line', (line) =>
      news.push(JSON.parse(line) as (typeof news)[number]),
    )
    const ended = new Promise((resolve) => started.once('exit', resolve))
    try {
      await expect.poll(() => news.some(({ kind }) => kind === 'serving')).toBe(true)
      expect(news.filter(({ kind }) => kind === 'left-to-others')).toEqual([
        {
          kind: 'left-to-others',
          tool: 'team/unlisted',
          because:
            'it uses store:team/other (--secret other-token=…), and is registered without it: add ' +
            '"credential": "other" to unlisted in the file of cordon team tools register, and register it again',
        },
      ])
      const call = async (tool: string, status: string): Promise<string> => {
        const id = await invokeTool(as('cordon_agent', 'agent-1'), {
          toolId: ids.get(tool) ?? '',
          agent: 'agent-1',
          input: {},
        })
        await expect.poll(async () => (await requireInvocation(engine, id)).status).toBe(status)
        return id
      }
      const whole = await call('whole', 'completed')
      expect(heard.at(-1)).toBe(`Bearer ${VALUE}`)
      const bare = await call('plain', 'completed')
      expect(plainHeard).toEqual([undefined])
      const line =
        `GET ${place(plain.port)}/ went without the credential "plain-token": nothing secret is sent without ` +
        'TLS; use https'
      expect(await requireInvocation(engine, bare)).toMatchObject({ usage: { bare_requests: [line] } })
      expect((await requireInvocation(engine, whole)).usage).not.toHaveProperty('bare_requests')
      await expect
        .poll(() => news.filter(({ kind }) => kind === 'without-credential'))
        .toEqual([{ kind: 'without-credential', invocation: bare, because: line }])
      const why = await promisify(execFile)(
        process.execPath,
        [CORDON, 'why', bare, '--database', database.url('ada')],
        {
          env: { PATH: process.env['PATH'], HOME: base },
        },
      )
      expect(why.stdout.replace(/\s+/g, ' ')).toContain(`credential ${line}`)
      const large = await call('large', 'failed')
      expect(await requireInvocation(engine, large)).toMatchObject({
        output: null,
        error: expect.stringMatching(/^result-not-kept: .*larger than 16 MB/) as string,
      })
      // And it goes on.
      await call('whole', 'completed')
    } finally {
      started.kill('SIGTERM')
      await ended
      await plain.close()
    }
  },
)
