// A served store with a team, and raw requests to it, including ones that a Cordon client would never send.
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveStore } from '../../src/server/index.js'
import type { ServeSettings, ServedStore } from '../../src/server/index.js'
import { openPglite, openRemoteAccess } from '../../src/store/index.js'
import type { Engine, StoreAccess } from '../../src/store/index.js'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Of the body, where it is JSON. */
  readonly json: unknown
}

export interface Asked {
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is where it is a text or bytes. */
  readonly body?: unknown
  /** Through the socket instead of the address. */
  readonly socket?: boolean
}

export interface Stage {
  readonly engine: Engine
  readonly served: ServedStore
  readonly port: number
  readonly socket: string
  readonly tokens: Readonly<Record<'ada' | 'anna' | 'otto' | 'agent-1' | 'agent-2', string>>
  readonly reported: unknown[]
  readonly ask: (method: string, target: string, asked?: Asked) => Promise<Answer>
  /** Bytes as they are; resolves with what came back when the server closed, or fell silent for that long. */
  readonly raw: (bytes: string, silentMs?: number) => Promise<string>
  /** In the name of whoever, through the socket. */
  readonly as: (actor: string) => StoreAccess
  readonly invoke: (
    input?: unknown,
    agent?: 'agent-1' | 'agent-2',
  ) => Promise<{ readonly id: string; readonly hash: string }>
  readonly close: () => Promise<void>
}

const SCHEMA = { type: 'object', properties: { to: { type: 'string' } } }

export const openStage = async (more: Partial<ServeSettings> = {}): Promise<Stage> => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-serve-'))
  const engine = openPglite({ folder: undefined })
  const socket = more.socket ?? join(folder, 'socket')
  const reported: unknown[] = []
  const served = await serveStore({
    engine,
    version: '0',
    listen: { host: '127.0.0.1', port: 0 },
    ownerName: 'ada',
    report: (error) => reported.push(error),
    ...more,
    socket,
  })
  const port = Number(
    served.addresses
      .find((address) => address.startsWith('http'))
      ?.split(':')
      .at(-1),
  )
  const accesses: StoreAccess[] = []
  const as = (actor: string): StoreAccess => {
    const access = openRemoteAccess({ server: `unix:${socket}`, actor })
    accesses.push(access)
    return access
  }
  const ada = as('ada')
  await ada.ask('foundTeam', { team: 'acme', admin: 'ada' })
  for (const [actor, kind] of [
    ['anna', 'operator'],
    ['otto', 'operator'],
    ['agent-1', 'agent'],
    ['agent-1', 'operator'],
    ['agent-1', 'runner'],
    ['agent-2', 'agent'],
  ] as const)
    await ada.ask('addMember', { team: 'acme', actor, kind })
  await ada.ask('registerTool', { team: 'acme', key: 'send', inputSchema: SCHEMA, egressClass: 'write' })
  for (const agent of ['agent-1', 'agent-2']) await ada.ask('assignTool', { team: 'acme', agent, tool: 'send' })
  const tokenOf = async (actor: string): Promise<string> =>
    (await ada.ask('createToken', { team: 'acme', actor })).token

  return {
    engine,
    served,
    port,
    socket,
    reported,
    as,
    tokens: {
      'ada': await tokenOf('ada'),
      'anna': await tokenOf('anna'),
      'otto': await tokenOf('otto'),
      'agent-1': await tokenOf('agent-1'),
      'agent-2': await tokenOf('agent-2'),
    },
    ask: (method, target, asked = {}) => askOnce({ port, socket }, method, target, asked),
    raw: (bytes, silentMs = 5_000) => sendRaw(port, bytes, silentMs),
    invoke: async (input = { to: 'bob' }, agent = 'agent-1') => {
      const { id } = await as(agent).ask('invoke', { team: 'acme', tool: 'send', agent, input })
      return { id, hash: (await as('anna').ask('findInvocation', { id })).inputHash }
    },
    close: async () => {
      await Promise.all(accesses.map((access) => access.close()))
      await served.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const askOnce = (
  { port, socket }: { readonly port: number; readonly socket: string },
  method: string,
  path: string,
  { token, headers = {}, body, socket: isLocal = false }: Asked,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const bytes =
      body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const sent = request(
      {
        method,
        path,
        agent: false,
        ...(isLocal ? { socketPath: socket } : { host: '127.0.0.1', port }),
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(bytes === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
          ...headers,
        },
      },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text,
            json: text === '' ? undefined : JSON.parse(text),
          })
        })
      },
    )
    sent.on('error', reject)
    sent.end(bytes)
  })

const sendRaw = (port: number, bytes: string, silentMs: number): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    const connection = connect(port, '127.0.0.1', () => connection.write(bytes))
    connection.setTimeout(silentMs, () => connection.destroy())
    connection.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    connection.on('error', () => undefined)
    connection.on('close', () => {
      resolve(text)
    })
  })
