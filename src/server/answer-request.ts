import type { IncomingMessage, ServerResponse } from 'node:http'

import { readFields } from '../store/index.js'
import type { Desk } from '../store/index.js'

import { inOwnTeam, knowCaller, requireKind, requireTeam } from './authenticate.js'
import type { Reception } from './authenticate.js'
import { guardRequest } from './guard-request.js'
import { problemOf } from './problem.js'
import { readBody, refuseBody, refuseTwice } from './read-body.js'
import { routeRequest } from './route.js'

export interface Answering extends Reception {
  readonly desk: Desk
  readonly api: string
  readonly mostBodyBytes: number
  readonly longestWaitMs: number
  /** Aborted when the server ends: whoever waits is answered. */
  readonly ending: AbortSignal
  /** For mistakes of Cordon, which callers are told nothing of. */
  readonly report: (error: unknown) => void
}

/** Whatever answers are shown by, they are read as what they are and by nobody else. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'content-security-policy': "default-src 'none'", 'cross-origin-resource-policy': 'same-origin' }

export const answerRequest = async (request: IncomingMessage, response: ServerResponse, answering: Answering): Promise<void> => {
  try {
    guardRequest(request, answering.door)
    if (request.method === 'GET' && request.url === '/openapi.json') send(response, answering, { status: 200, text: answering.api })
    else if (request.method === 'GET' && request.url === '/healthz') send(response, answering, { status: 200, text: JSON.stringify({ status: await health(answering) }) })
    else await answerOperation(request, response, answering)
  } catch (error) {
    const problem = problemOf(error)
    if (problem.status >= 500) answering.report(error)
    if (response.headersSent) response.destroy()
    else send(response, answering, { status: problem.status, text: JSON.stringify(problem), headers: { 'content-type': 'application/problem+json', ...(problem.status === 401 ? { 'www-authenticate': 'Bearer' } : {}), ...(request.complete ? {} : { connection: 'close' }) } })
  }
}

const health = async ({ engine }: Answering): Promise<'ok'> => {
  await engine.query('select 1')
  return 'ok'
}

const answerOperation = async (request: IncomingMessage, response: ServerResponse, answering: Answering): Promise<void> => {
  // Who asks is known before what they send is read: a stranger's body is not worth the memory.
  const { caller, holder } = await knowCaller(request, answering)
  const { operation, given } = routeRequest(request.method ?? '', request.url ?? '')
  requireKind(holder, operation)
  if (operation.method !== 'POST') refuseBody(request)
  const body = operation.method === 'POST' ? await readBody(request, answering.mostBodyBytes) : {}
  refuseTwice(body, given)
  const read = inOwnTeam(holder, readFields(operation.fields, { ...body, ...given }))
  requireTeam(holder, read)
  if (operation.method === 'GET') {
    const gone = new AbortController()
    response.once('close', () => { gone.abort() })
    const marked = await answering.desk.follow(operation, caller, read, { ...waitingOf(request, answering.longestWaitMs), signal: AbortSignal.any([gone.signal, answering.ending]) })
    send(response, answering, marked === undefined ? { status: 304 } : { status: 200, text: marked.text, headers: { etag: `"${marked.mark}"` } })
    return
  }
  const answer = (await answering.desk.answer(operation, caller, read)) ?? null
  send(response, answering, answer === null ? { status: 204 } : { status: 200, text: JSON.stringify(answer) })
}

/** RFC 9110, If-None-Match; RFC 7240, Prefer: wait. */
const waitingOf = ({ headers }: IncomingMessage, longestMs: number): { readonly known?: string; readonly waitMs: number } => {
  const known = /^"([A-Za-z0-9_-]{1,100})"$/.exec(headers['if-none-match'] ?? '')?.[1]
  const seconds = /(?:^|,)\s*wait=(\d{1,4})\s*(?:,|$)/.exec(String(headers['prefer'] ?? ''))?.[1]
  return { waitMs: Math.min(Number(seconds ?? 0) * 1000, longestMs), ...(known === undefined ? {} : { known }) }
}

interface Reply {
  readonly status: number
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

const send = (response: ServerResponse, { ending }: Answering, { status, text = '', headers = {} }: Reply): void => {
  const bytes = Buffer.from(text)
  // Who is answered at the end does not ask again on this connection.
  if (ending.aborted) response.shouldKeepAlive = false
  response.writeHead(status, { ...HEADERS, ...(text === '' ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) }), ...headers })
  response.end(bytes)
}
