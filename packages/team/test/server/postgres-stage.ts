// A server on PostgreSQL with two teams, and raw requests to it. Tests also query the database as its owner.
import { request } from 'node:http'
import type { ClientRequest, IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'

import { serveStore } from '../../src/server/index.js'
import type { ServeSettings, ServedStore } from '../../src/server/index.js'
import { addMember, assignTool, migrate, openPostgres, registerTool, speakingAs } from '../../src/store/index.js'
import type { Engine, PostgresSettings } from '../../src/store/index.js'
import { perform } from '../store/perform.js'
import { startServer } from '../store/server.js'
import type { Server } from '../store/server.js'

export interface Told {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly json: unknown
}

export type Somebody = 'ada' | 'anna' | 'agent-1' | 'host-1' | 'zoe'

export interface PostgresStage {
  readonly database: Server
  readonly owner: Engine
  readonly served: ServedStore
  readonly port: number
  readonly reported: unknown[]
  readonly tokens: Readonly<Record<Somebody, string>>
  readonly ask: (
    who: Somebody,
    method: string,
    path: string,
    more?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ) => Promise<Told> & { readonly sent: ClientRequest }
  /** What the server's connections are doing at the database, by its own account. */
  readonly statements: (like?: string) => Promise<number>
  /** Until the returned function is called, whoever reads or writes that table waits. */
  readonly lock: (table: string) => Promise<() => Promise<void>>
  readonly raw: (bytes: string) => ReturnType<typeof connect>
  readonly close: () => Promise<void>
}

const MEMBERS = [
  ['anna', 'operator'],
  ['agent-1', 'agent'],
  ['host-1', 'runner'],
] as const
const TEAM_OF: Readonly<Record<Somebody, string>> = {
  'ada': 'acme',
  'anna': 'acme',
  'agent-1': 'acme',
  'host-1': 'acme',
  'zoe': 'other',
}

export const openPostgresStage = async ({
  url,
  ...more
}: Partial<ServeSettings> &
  Omit<Partial<PostgresSettings>, 'url'> & { readonly url?: (of: Server) => string }): Promise<PostgresStage> => {
  const database = startServer()
  const owner = openPostgres({ url: database.url() })
  await migrate(owner)
  await owner.execute(
    'create role cordon_serve login in role cordon_gateway, cordon_admin, cordon_operator, cordon_agent, cordon_runner',
  )
  const founder = speakingAs(owner, { kind: 'gateway', role: 'service_role', actor: 'founder' })
  await addMember(founder, 'acme', 'ada', 'admin')
  await addMember(founder, 'other', 'zoe', 'admin')
  const ada = speakingAs(owner, { kind: 'gateway', role: 'cordon_admin', actor: 'ada' })
  for (const [actor, kind] of MEMBERS) await addMember(ada, 'acme', actor, kind)
  await assignTool(
    ada,
    'agent-1',
    await registerTool(ada, { owner: 'acme', key: 'look', egressClass: 'none', requiresApproval: false }),
  )
  await assignTool(ada, 'agent-1', await registerTool(ada, { owner: 'acme', key: 'send', egressClass: 'write' }))
  const tokenOf = async (actor: Somebody): Promise<string> =>
    (
      await perform(
        speakingAs(owner, { kind: 'gateway', role: 'cordon_admin', actor: TEAM_OF[actor] === 'acme' ? 'ada' : 'zoe' }),
        'createToken',
        { team: TEAM_OF[actor], actor },
      )
    ).token
  const tokens = {
    'ada': await tokenOf('ada'),
    'anna': await tokenOf('anna'),
    'agent-1': await tokenOf('agent-1'),
    'host-1': await tokenOf('host-1'),
    'zoe': await tokenOf('zoe'),
  }
  const reported: unknown[] = []
  const { connections = 4, limits, mostAnswerBytes } = more
  const engine = openPostgres({
    url: url?.(database) ?? database.url('cordon_serve'),
    connections,
    ...(limits === undefined ? {} : { limits }),
    ...(mostAnswerBytes === undefined ? {} : { mostAnswerBytes }),
  })
  const served = await serveStore({
    engine,
    version: '0',
    listen: { host: '127.0.0.1', port: 0 },
    ownerName: 'ada',
    report: (error) => reported.push(error),
    ...more,
    connections,
  })
  const port = Number(served.addresses[0]?.split(':').at(-1))

  const ask: PostgresStage['ask'] = (who, method, path, { body, headers = {} } = {}) => {
    const bytes = body === undefined ? undefined : JSON.stringify(body)
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: {
        authorization: `Bearer ${tokens[who]}`,
        ...(bytes === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
        ...headers,
      },
    })
    const told = new Promise<Told>((resolve, reject) => {
      sent.on('error', reject)
      sent.on('response', (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            json: text === '' ? undefined : JSON.parse(text),
          })
        })
      })
    })
    sent.end(bytes)
    return Object.assign(told, { sent })
  }
  const statements: PostgresStage['statements'] = async (like = '%') =>
    (
      await owner.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where usename = 'cordon_serve' and application_name ` +
          `= 'cordon' and state <> 'idle' and query like $1`,
        [like],
      )
    )[0]?.n ?? 0

  return {
    database,
    owner,
    served,
    port,
    reported,
    tokens,
    ask,
    statements,
    lock: async (table) => {
      let release = (): void => undefined
      const until = new Promise<void>((resolve) => {
        release = resolve
      })
      let isHeld = (): void => undefined
      const held = new Promise<void>((resolve) => {
        isHeld = resolve
      })
      const over = owner.transaction(async ({ execute }) => {
        await execute(`lock table ${table} in access exclusive mode`)
        isHeld()
        await until
      })
      await Promise.race([held, over])
      return async () => {
        release()
        await over
      }
    },
    raw: (bytes) => {
      const connection = connect(port, '127.0.0.1', () => connection.write(bytes))
      connection.on('error', () => undefined)
      return connection
    },
    close: async () => {
      await served.close()
      await owner.close()
      database.remove()
    },
  }
}
