import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { readFields } from '../store/index.js'
import type { Caller, Registry, Turn } from '../store/index.js'

import { knowCaller, requireKind, requireTeam } from './authenticate.js'
import type { Reception } from './authenticate.js'
import { guardRequest } from './guard-request.js'
import { RETRY_AFTER, problemOf } from './problem.js'
import { presenceOf, withinTime } from './presence.js'
import type { Presence } from './presence.js'
import { lengthOf, readBody, refuseBody, refuseTwice } from './read-body.js'
import { routeRequest } from './route.js'
import type { Party, Seat, Shares } from './shares.js'
import { streamAnswer } from './stream-answer.js'

export interface Answering extends Reception {
  readonly registry: Registry
  readonly api: string
  readonly mostBodyBytes: number
  readonly longestWaitMs: number
  readonly shares: Shares
  /** How long the database may take for one look at it, whatever it says about that itself. */
  readonly answerMs: number
  /** Aborted when the server ends: waiting requests are answered. */
  readonly ending: AbortSignal
  /** For internal errors. Callers learn nothing about them. */
  readonly report: (error: unknown) => void
}

/** Whatever answers are shown by, they are read as what they are and by nobody else. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
}

/** Without a byte of an answer taken in. */
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
    else if (request.method === 'GET' && request.url === '/healthz')
      send(response, answering, {
        status: 200,
        text: JSON.stringify({ status: await health(request, answering, presence.gone) }),
      })
    else await answerOperation(request, response, answering, presence)
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

/** Whoever is not known yet has a share as well: each token one of its own, whether it is one or not. */
const asStranger = async <Result>(
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

const health = (request: IncomingMessage, answering: Answering, gone: AbortSignal): Promise<string> =>
  asStranger(request, answering, gone, async () => {
    await answering.engine.query('select 1')
    return 'ok'
  })

const answerOperation = async (
  request: IncomingMessage,
  response: ServerResponse,
  answering: Answering,
  { gone, over }: Presence,
): Promise<void> => {
  // Who asks is known before what they send is read: a stranger's body is not worth the memory.
  const { caller, holder } = await asStranger(request, answering, gone, () => knowCaller(request, answering))
  const { operation, given } = routeRequest(request.method ?? '', request.url ?? '')
  requireKind(holder, operation)
  if (operation.method !== 'POST') refuseBody(request)
  // Who went away meanwhile would leave no seat: they have left.
  if (gone.aborted) return
  const seat = answering.shares.enter(partyOf(caller))
  // An answer that is not taken in counts as well.
  response.once('close', seat.leave)
  if (operation.method === 'POST') seat.hold(lengthOf(request, answering.mostBodyBytes))
  const body =
    operation.method === 'POST'
      ? await readBody(request, answering.mostBodyBytes, operation.takesAnyDouble === true ? 'double' : 'exact')
      : {}
  refuseTwice(body, given)
  const streams =
    operation.growth !== undefined && /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(request.headers.accept ?? '')
  const read = readFields(operation.fields, { ...body, ...(streams ? lastMark(request) : {}), ...given })
  requireTeam(holder, read)
  const turn = turnOf(seat, gone, operation.longestMs ?? answering.answerMs)
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

/** What a client of server-sent events says by itself when it comes again. */
const lastMark = ({ headers }: IncomingMessage): Readonly<Record<string, unknown>> =>
  headers['last-event-id'] === undefined ? {} : { after: headers['last-event-id'] }

/** Who has the store itself is a party too: a program that went wild keeps nobody else from it. */
const partyOf = (caller: Caller): Party =>
  caller.kind === 'login'
    ? { team: 'the socket', caller: 'the login' }
    : { team: caller.team ?? 'the socket', caller: caller.actor }

const turnOf =
  (seat: Seat, gone: AbortSignal, answerMs: number): Turn =>
  (work) =>
    seat.turn(() => withinTime(work, gone, answerMs), gone)

/** RFC 9110, If-None-Match; RFC 7240, Prefer: wait. */
const waitingOf = (
  { headers }: IncomingMessage,
  longestMs: number,
): { readonly known?: string; readonly waitMs: number } => {
  const known = /^"([A-Za-z0-9_-]{1,100})"$/.exec(headers['if-none-match'] ?? '')?.[1]
  const seconds = /(?:^|,)\s*wait=(\d{1,4})\s*(?:,|$)/.exec(String(headers['prefer'] ?? ''))?.[1]
  return { waitMs: Math.min(Number(seconds ?? 0) * 1000, longestMs), ...(known === undefined ? {} : { known }) }
}

interface Reply {
  readonly status: number
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** What is still being sent by who is refused. */
  readonly unread?: IncomingMessage
}

const send = (
  response: ServerResponse,
  { ending }: Answering,
  { status, text = '', headers = {}, unread }: Reply,
): void => {
  const bytes = Buffer.from(text)
  // Who is answered at the end does not ask again on this connection.
  if (ending.aborted) response.shouldKeepAlive = false
  response.writeHead(status, {
    ...HEADERS,
    ...(text === '' ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) }),
    ...headers,
  })
  if (unread === undefined || unread.complete) response.end(bytes)
  else endWhenRead(response, bytes, unread)
  // Who does not take an answer in has no connection for it.
  response.setTimeout(TAKE_IN_MS, () => {
    response.destroy()
  })
}

const TOO_LARGE = 413

/** Of what is refused: this much more is read, and for this long. */
const UNREAD = { bytes: 64 * 1024 * 1024, ms: 10_000 }

/**
 * A connection that is closed with something unread in it is reset, and who is still sending may never see the answer:
 * it would ask again, with the same. So the rest is read and dropped, within bounds, while the answer is on its way.
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
