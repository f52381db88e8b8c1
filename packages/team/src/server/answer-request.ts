import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { guardRequest } from 'cordon/runtime'
import { withoutUndefined } from 'cordon/shapes'

import { readFields } from '../store/index.js'
import type { Caller, Registry, Turn, RequestFields, Following } from '../store/index.js'
import { knowCaller, requireKind, requireTeam } from './authenticate.js'
import type { Reception } from './authenticate.js'
import { RETRY_AFTER, problemOf } from './problem.js'
import { lengthOf, readBody, refuseBody, refuseTwice } from './read-body.js'
import { routeRequest } from './route.js'
import type { Client, Shares } from './shares.js'
import { streamAnswer } from './stream-answer.js'

export interface Answering extends Reception {
  readonly registry: Registry
  readonly api: string
  readonly mostBodyBytes: number
  readonly longestWaitMs: number
  readonly shares: Shares
  /** How long the database may take for one operation. */
  readonly answerMs: number
  /** Aborted when the server ends: waiting requests are answered. */
  readonly ending: AbortSignal
  /** For internal errors. Callers learn nothing about them. */
  readonly report: (error: unknown) => void
}

/** For answers that a browser shows. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
}

/** A client that reads nothing for this long loses its connection. */
const TAKE_IN_MS = 15_000

export const answerRequest = async (
  request: IncomingMessage,
  response: ServerResponse,
  answering: Answering,
): Promise<void> => {
  const presence = presenceOf(response, answering.ending)
  response.on('error', () => undefined)
  try {
    guardRequest(request, answering.door)
    if (request.method === 'GET' && request.url === '/openapi.json')
      send(response, answering, { status: 200, text: answering.api })
    else if (request.method === 'GET' && request.url === '/healthz') {
      await beforeLogin(request, answering, presence.gone, () => answering.engine.query('select 1'))
      send(response, answering, { status: 200, text: JSON.stringify({ status: 'ok' }) })
    } else await answerOperation(request, response, answering, presence)
  } catch (error) {
    const problem = problemOf(error)
    // A client that closed its connection gets no answer, and that is not an error.
    if (presence.gone.aborted) return
    if (problem.status >= 500) answering.report(error)
    if (response.headersSent) response.destroy()
    else
      send(response, answering, {
        status: problem.status,
        text: JSON.stringify(problem),
        headers: headersOf(problem.status, request),
        ...(problem.status === TOO_LARGE ? { unread: request } : {}),
      })
  }
}

const headersOf = (status: number, { complete }: IncomingMessage): Readonly<Record<string, string>> => ({
  'content-type': 'application/problem+json',
  ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  ...(RETRY_AFTER[status] === undefined ? {} : { 'retry-after': RETRY_AFTER[status] }),
  ...(complete ? {} : { connection: 'close' }),
})

/** Before authentication each token, valid or not, has a share of its own. */
const beforeLogin = async <Result>(
  { socket, headers }: IncomingMessage,
  { shares }: Answering,
  gone: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> => {
  const { authorization } = headers
  const caller =
    authorization === undefined
      ? (socket.remoteAddress ?? 'the socket')
      : `the token of hash ${createHash('sha256').update(authorization).digest('hex').slice(0, 16)}`
  const seat = shares.enter({ team: 'who is not known yet', caller, isUnknown: true })
  try {
    return await seat.turn(work, gone)
  } finally {
    seat.leave()
  }
}

const answerOperation = async (
  request: IncomingMessage,
  response: ServerResponse,
  answering: Answering,
  { gone, over }: ReturnType<typeof presenceOf>,
): Promise<void> => {
  // The body of an unauthenticated request is never read.
  const { caller, holder } = await beforeLogin(request, answering, gone, () => knowCaller(request, answering))
  const { operation, given } = routeRequest(request.method ?? '', request.url ?? '')
  requireKind(holder, operation)
  if (operation.method !== 'POST') refuseBody(request)
  // After the event `close` the seat would never be left.
  if (gone.aborted) return
  const seat = answering.shares.enter(partyOf(caller))
  // An answer counts until the client has read it.
  response.once('close', seat.leave)
  let body: RequestFields = {}
  if (operation.method === 'POST') {
    seat.hold(lengthOf(request, answering.mostBodyBytes))
    body = await readBody(request, answering.mostBodyBytes, operation.takesAnyDouble === true ? 'double' : 'exact')
  }
  refuseTwice(body, given)
  const streams =
    operation.growth !== undefined && /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(request.headers.accept ?? '')
  const read = readFields(operation.fields, { ...body, ...(streams ? lastMark(request) : {}), ...given })
  requireTeam(holder, read)
  const turn: Turn = (work) => seat.turn(() => withinTime(work, gone, operation.longestMs ?? answering.answerMs), gone)
  if (streams) {
    if (answering.ending.aborted) response.shouldKeepAlive = false
    await streamAnswer(response, operation, {
      registry: answering.registry,
      caller,
      given: read,
      growing: { untilMs: answering.longestWaitMs, signal: over, turn },
      headers: HEADERS,
      report: answering.report,
    })
    return
  }
  if (operation.method === 'GET') {
    const marked = await answering.registry.follow(operation, caller, read, {
      ...waitingOf(request, answering.longestWaitMs),
      signal: over,
      turn,
    })
    if (marked !== undefined) seat.hold(marked.text.length)
    send(
      response,
      answering,
      marked === undefined
        ? { status: 304 }
        : { status: 200, text: marked.text, headers: { etag: `"${marked.mark}"` } },
    )
    return
  }
  const answer = (await turn((signal) => answering.registry.answer(operation, caller, read, signal))) ?? null
  send(response, answering, answer === null ? { status: 204 } : { status: 200, text: JSON.stringify(answer) })
}

/** Browsers send this header when they reconnect to server-sent events. */
const lastMark = ({ headers }: IncomingMessage): RequestFields =>
  headers['last-event-id'] === undefined ? {} : { after: headers['last-event-id'] }

/** The owner of the store has a share too, so that their program cannot block others. */
const partyOf = (caller: Caller): Client =>
  caller.kind === 'login'
    ? { team: 'the socket', caller: 'the login' }
    : { team: caller.team ?? 'the socket', caller: caller.actor }

/** RFC 9110, If-None-Match; RFC 7240, Prefer: wait. */
const waitingOf = ({ headers }: IncomingMessage, longestMs: number): Pick<Following, 'known' | 'waitMs'> => {
  const known = /^"([A-Za-z0-9_-]{1,100})"$/.exec(headers['if-none-match'] ?? '')?.[1]
  const seconds = /(?:^|,)\s*wait=(\d{1,4})\s*(?:,|$)/.exec(String(headers['prefer'] ?? ''))?.[1]
  return withoutUndefined({ waitMs: Math.min(Number(seconds ?? 0) * 1000, longestMs), known })
}

interface Reply {
  readonly status: number
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A refused request whose body is still arriving. */
  readonly unread?: IncomingMessage
}

const send = (
  response: ServerResponse,
  { ending }: Answering,
  { status, text = '', headers = {}, unread }: Reply,
): void => {
  const bytes = Buffer.from(text)
  // The server ends: the connection is not used again.
  if (ending.aborted) response.shouldKeepAlive = false
  response.writeHead(status, {
    ...HEADERS,
    ...(text === '' ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) }),
    ...headers,
  })
  if (unread === undefined || unread.complete) response.end(bytes)
  else endWhenRead(response, bytes, unread)
  response.setTimeout(TAKE_IN_MS, () => {
    response.destroy()
  })
}

const TOO_LARGE = 413

/** How much of a refused body is read, and for how long. */
const UNREAD = { bytes: 64 * 1024 * 1024, ms: 10_000 }

/**
 * Closing a connection with unread data resets it. A client that still sends might never see the answer, and would try
 * again. So the rest of the body is read and dropped, within limits.
 */
const endWhenRead = (response: ServerResponse, bytes: Buffer, unread: IncomingMessage): void => {
  let dropped = 0
  const end = (): void => {
    clearTimeout(late)
    response.end()
  }
  const late = setTimeout(end, UNREAD.ms)
  response.write(bytes)
  unread.on('data', (chunk: Buffer) => {
    dropped += chunk.byteLength
    if (dropped > UNREAD.bytes) end()
  })
  for (const event of ['end', 'error', 'close'] as const) unread.once(event, end)
  unread.resume()
}

/**
 * Whether the client still waits: `gone` is aborted when it has gone, `over` also when the server ends.
 * AbortSignal.any() would leak memory here: its signals stay with the signal of the server.
 */
const presenceOf = (response: ServerResponse, ending: AbortSignal) => {
  const [gone, over] = [new AbortController(), new AbortController()]
  const end = (): void => {
    over.abort()
  }
  if (ending.aborted) end()
  ending.addEventListener('abort', end, { once: true })
  response.once('close', () => {
    ending.removeEventListener('abort', end)
    gone.abort()
    over.abort()
  })
  return { gone: gone.signal, over: over.signal }
}

/** Passes a signal that is aborted when the time is over or the client has gone. */
const withinTime = async <Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  gone: AbortSignal,
  milliseconds: number,
): Promise<Result> => {
  const giveUp = new AbortController()
  const end = (): void => {
    giveUp.abort()
  }
  const timer = setTimeout(end, milliseconds)
  gone.addEventListener('abort', end, { once: true })
  if (gone.aborted) end()
  try {
    return await work(giveUp.signal)
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', end)
  }
}
