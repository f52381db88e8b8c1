// The gateway over streamable HTTP, at one path. A client of an earlier revision has a session, with servers of its
// own. Clients of revision 2026-07-28 share one gateway.
import { randomUUID, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { CordonError, codeOf, messageOf } from 'cordon/errors'
import { bodyBytes, guardRequest, listenOnAddress, renderAddress } from 'cordon/runtime'
import type { Door, ListenAddress } from 'cordon/runtime'

import { REVISIONS, SESSION_HEADER } from '../wire/era-2025.js'
import { STATELESS_REVISION, clientOf } from '../wire/era-2026.js'
import { LONGEST_LINE } from '../wire/lines.js'
import { RPC_ERRORS, paramsOf, readLine } from '../wire/messages.js'
import type { Message, RequestMessage } from '../wire/messages.js'
import { begins, openSession } from './session.js'
import type { OpenConnection, Session } from './session.js'
import { sendJson } from './event-stream.js'
import { VERSION_HEADER } from './mirrored-headers.js'
import { openStatelessRequests } from './stateless-requests.js'

export interface Listening {
  readonly address: ListenAddress
  /** Undefined: every program of this host may connect. */
  readonly token: string | undefined
}

const PATH = '/mcp'
const MOST_SESSIONS = 32
const IDLE_MS = 30 * 60_000

export const openEndpoint = async (
  { address, token }: Listening,
  open: OpenConnection,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
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
  const newSession = async (): Promise<Session> => {
    if (sessions.size + opening >= MOST_SESSIONS) throw new Refusal(503, `there are ${MOST_SESSIONS} sessions already`)
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
  const sessionOf = ({ headers }: IncomingMessage): Session => {
    const id = headers[SESSION_HEADER]
    if (typeof id !== 'string') throw new Refusal(400, 'Mcp-Session-Id is missing')
    const session = sessions.get(id)
    if (session === undefined) throw new Refusal(404, 'there is no such session')
    lastUsed.set(id, Date.now())
    return session
  }
  const post = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requireReadable(request)
    const text = (await bodyBytes(request, LONGEST_LINE)).toString('utf8')
    const read = readLine(text, 'client')
    const garbage = read.find((message) => message.kind === 'garbage')
    if (garbage !== undefined) throw new Refusal(400, garbage.problem, RPC_ERRORS.parse)
    const messages = read as readonly Message[]
    const [first] = messages
    if (messages.length === 1 && first?.kind === 'request' && isStateless(first, request)) {
      stateless.ask(first, request.headers, response)
      return
    }
    requireKnownVersion(request)
    const session = messages.some(begins) ? await newSession() : sessionOf(request)
    if (messages.some(({ kind }) => kind === 'request')) session.ask(text, messages, response)
    else {
      session.tell(text)
      response.writeHead(202).end()
    }
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requireAllowed(request, door)
    requireToken(request, token)
    if (new URL(request.url ?? '', 'http://localhost').pathname !== PATH) throw new Refusal(404, `the path is ${PATH}`)
    switch (request.method) {
      case 'POST':
        await post(request, response)
        return
      case 'GET':
        if (!sessionOf(request).listen(response)) throw new Refusal(409, 'this session has such a stream already')
        return
      case 'DELETE':
        await end(sessionOf(request).id)
        response.writeHead(204).end()
        return
      default:
        throw new Refusal(405, 'use POST')
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      refuse(response, error)
    })
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
      const closed = once(server, 'close')
      server.close()
      await Promise.all([stateless.close(), ...[...sessions.keys()].map(end)])
      server.closeAllConnections()
      await closed
    },
  }
}

/** Why a request reaches no server. */
class Refusal extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, problem: string, code: number = RPC_ERRORS.invalid) {
    super(problem)
    this.name = 'Refusal'
    this.status = status
    this.code = code
  }
}

const STATUSES: Readonly<Record<string, number>> = { 'request-too-large': 413, 'request-invalid': 400 }

const refuse = (response: ServerResponse, error: unknown): void => {
  const { status, code, message } =
    error instanceof Refusal ? error : new Refusal(STATUSES[codeOf(error) ?? ''] ?? 500, messageOf(error))
  if (response.headersSent) response.destroy()
  else sendJson(response, status, { jsonrpc: '2.0', id: null, error: { code, message } })
}

const requireAllowed = (request: IncomingMessage, door: Door): void => {
  try {
    guardRequest(request, door)
  } catch (error) {
    throw error instanceof CordonError ? new Refusal(403, error.message) : error
  }
}

const requireToken = ({ headers }: IncomingMessage, token: string | undefined): void => {
  if (token === undefined) return
  const [, given = ''] = /^Bearer ([!-~]+)$/i.exec(headers.authorization ?? '') ?? []
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  if (a.length !== b.length || !timingSafeEqual(a, b)) throw new Refusal(401, 'the token is missing or wrong')
}

/** A form of a web page can send neither. */
const requireReadable = ({ headers }: IncomingMessage): void => {
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
    throw new Refusal(415, 'Content-Type is not application/json')
  const { accept = '' } = headers
  if (!accept.includes('application/json') || !accept.includes('text/event-stream'))
    throw new Refusal(406, 'Accept does not name application/json and text/event-stream')
}

const requireKnownVersion = ({ headers }: IncomingMessage): void => {
  const version = headers[VERSION_HEADER]
  if (version !== undefined && !REVISIONS.has(String(version)))
    throw new Refusal(400, `Unsupported protocol version ${String(version).slice(0, 40)}`)
}

const isStateless = (message: RequestMessage, { headers }: IncomingMessage): boolean =>
  clientOf(paramsOf(message)).version !== undefined || headers[VERSION_HEADER] === STATELESS_REVISION
