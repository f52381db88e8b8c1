// The gateway over streamable HTTP, at one path. A client of an earlier revision has a session, with servers of its
// own. Clients of revision 2026-07-28 share one gateway.
import { randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { CordonError, messageOf } from 'cordon/errors'
import { bodyBytes, guardRequest, listenOnAddress, renderAddress } from 'cordon/runtime'
import type { Door, ListenAddress } from 'cordon/runtime'

import { REVISIONS } from '../wire/era-2025.js'
import { STATELESS_REVISION, clientOf } from '../wire/era-2026.js'
import { LONGEST_LINE } from '../wire/lines.js'
import { RPC_ERRORS, paramsOf, readLine } from '../wire/messages.js'
import type { Message, RequestMessage } from '../wire/messages.js'
import { begins, openSession } from './session.js'
import type { OpenConnection, Session } from './session.js'
import { sendJson } from './event-stream.js'
import { openStatelessRequests } from './stateless-requests.js'

export interface EndpointSettings {
  readonly address: ListenAddress
  /** Undefined: every program of this host may connect. */
  readonly token: string | undefined
  readonly open: OpenConnection
}

export interface Endpoint {
  readonly url: string
  readonly close: () => Promise<void>
}

const PATH = '/mcp'
const MOST_SESSIONS = 32
const IDLE_MS = 30 * 60_000

export const openEndpoint = async ({ address, token, open }: EndpointSettings): Promise<Endpoint> => {
  const sessions = new Map<string, Session>()
  const lastUsed = new Map<string, number>()
  const stateless = openStatelessRequests(open)
  const hosts = new Set<string>()
  const origins = new Set<string>()
  const door: Door = { kind: 'tcp', hosts, origins }

  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id)
    sessions.delete(id)
    lastUsed.delete(id)
    await session?.close()
  }
  const endIdle = (): void => {
    for (const [id, session] of sessions) {
      if (!session.isIdle()) lastUsed.set(id, Date.now())
      else if (Date.now() - (lastUsed.get(id) ?? 0) > IDLE_MS) void end(id)
    }
  }
  let opening = 0
  const newSession = async (): Promise<Session | Refusal> => {
    if (sessions.size + opening >= MOST_SESSIONS) return refusal(503, `there are ${MOST_SESSIONS} sessions already`)
    opening += 1
    try {
      const session = await openSession(randomUUID(), open)
      sessions.set(session.id, session)
      lastUsed.set(session.id, Date.now())
      return session
    } finally {
      opening -= 1
    }
  }
  const sessionOf = ({ headers }: IncomingMessage): Session | Refusal => {
    const id = headers['mcp-session-id']
    if (typeof id !== 'string') return refusal(400, 'Mcp-Session-Id is missing')
    const session = sessions.get(id)
    if (session === undefined) return refusal(404, 'there is no such session')
    lastUsed.set(id, Date.now())
    return session
  }
  const post = async (request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> => {
    const text = (await bodyBytes(request, LONGEST_LINE)).toString('utf8')
    const read = readLine(text, 'client')
    const garbage = read.find((message) => message.kind === 'garbage')
    if (garbage !== undefined) return refusal(400, garbage.problem, RPC_ERRORS.parse)
    const messages = read as readonly Message[]
    const [first] = messages
    if (messages.length === 1 && first?.kind === 'request' && isStateless(first, request)) {
      stateless.ask(first, request.headers, response)
      return undefined
    }
    const unknown = unknownVersion(request)
    if (unknown !== undefined) return unknown
    const session = messages.some(begins) ? await newSession() : sessionOf(request)
    if ('status' in session) return session
    if (messages.some(({ kind }) => kind === 'request')) session.ask(text, messages, response)
    else {
      session.tell(text)
      response.writeHead(202).end()
    }
    return undefined
  }
  const deleteSession = async (request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> => {
    const session = sessionOf(request)
    if ('status' in session) return session
    await end(session.id)
    response.writeHead(204).end()
    return undefined
  }
  const listenIn = (request: IncomingMessage, response: ServerResponse): Refusal | undefined => {
    const session = sessionOf(request)
    if ('status' in session) return session
    return session.listen(response) ? undefined : refusal(409, 'this session has such a stream already')
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> => {
    const refused = guarded(request, door) ?? withoutToken(request, token)
    if (refused !== undefined) return refused
    if (new URL(request.url ?? '', 'http://localhost').pathname !== PATH) return refusal(404, `the path is ${PATH}`)
    switch (request.method) {
      case 'POST':
        return unreadable(request) ?? post(request, response)
      case 'GET':
        return listenIn(request, response)
      case 'DELETE':
        return deleteSession(request, response)
      default:
        return refusal(405, 'use POST')
    }
  }

  const server = createServer((request, response) => {
    answer(request, response)
      .catch((error: unknown) => refusal(statusOf(error), messageOf(error)))
      .then((refused) => {
        if (refused !== undefined) refuse(response, refused)
      }, ignore)
  })
  // Streams stay open for as long as a call takes.
  server.requestTimeout = 0
  const port = await listenOnAddress(server, address)
  for (const name of [renderAddress({ ...address, port }), `localhost:${port}`]) {
    hosts.add(name)
    origins.add(`http://${name}`)
  }
  const idle = setInterval(endIdle, 60_000).unref()
  return {
    url: `http://${renderAddress({ ...address, port })}${PATH}`,
    close: async () => {
      clearInterval(idle)
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
      })
      await Promise.all([stateless.close(), ...[...sessions.keys()].map(end)])
      server.closeAllConnections()
      await closed
    },
  }
}

/** Why a request reaches no server. */
interface Refusal {
  readonly status: number
  readonly problem: string
  readonly code: number
}

const refusal = (status: number, problem: string, code: number = RPC_ERRORS.invalid): Refusal => ({
  status,
  problem,
  code,
})

const statusOf = (error: unknown): number => {
  if (!(error instanceof CordonError)) return 500
  return error.code === 'request-too-large' ? 413 : error.code === 'request-invalid' ? 400 : 500
}

const ignore = (): void => undefined

const refuse = (response: ServerResponse, { status, problem, code }: Refusal): void => {
  if (response.headersSent) response.destroy()
  else sendJson(response, status, { jsonrpc: '2.0', id: null, error: { code, message: problem } })
}

const guarded = (request: IncomingMessage, door: Door): Refusal | undefined => {
  try {
    guardRequest(request, door)
    return undefined
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return refusal(403, error.message)
  }
}

const withoutToken = ({ headers }: IncomingMessage, token: string | undefined): Refusal | undefined => {
  if (token === undefined) return undefined
  const [, given = ''] = /^Bearer ([!-~]+)$/i.exec(headers.authorization ?? '') ?? []
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b) ? undefined : refusal(401, 'the token is missing or wrong')
}

/** A form of a web page can send neither. */
const unreadable = ({ headers }: IncomingMessage): Refusal | undefined => {
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
    return refusal(415, 'Content-Type is not application/json')
  const { accept = '' } = headers
  return accept.includes('application/json') && accept.includes('text/event-stream')
    ? undefined
    : refusal(406, 'Accept does not name application/json and text/event-stream')
}

const unknownVersion = ({ headers }: IncomingMessage): Refusal | undefined => {
  const version = headers['mcp-protocol-version']
  if (version === undefined || REVISIONS.has(String(version))) return undefined
  return refusal(400, `Unsupported protocol version ${String(version).slice(0, 40)}`)
}

const isStateless = (message: RequestMessage, { headers }: IncomingMessage): boolean =>
  clientOf(paramsOf(message)).version !== undefined || headers['mcp-protocol-version'] === STATELESS_REVISION
