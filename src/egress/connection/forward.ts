import { CordonError, fail } from '../../errors/index.js'
import { credentialsBoundTo, credentialsWithin } from '../../policy/index.js'
import type { Credential, IpAddress } from '../../policy/index.js'
import type { Draft, Valued } from '../credentials/inject.js'
import { injectAll } from '../credentials/inject.js'
import type { Endpoint } from '../endpoint.js'
import { isSameEndpoint, parseEndpoint, renderAuthority, renderEndpoint, renderHost } from '../endpoint.js'
import type { Body } from '../http/body.js'
import { NO_TRAILERS } from '../http/body.js'
import type { ExchangeRequest, Handler, Reply } from '../http/exchange.js'
import type { HeaderList } from '../http/header-list.js'
import { withHeader, withoutHeaders } from '../http/header-list.js'
import { pathOf, violationSeen } from '../record.js'
import { acceptedCodings } from '../redaction/content-coding.js'
import { createConcealment } from '../redaction/conceal.js'
import type { Concealment } from '../redaction/conceal.js'
import { findAddresses } from '../rules/address-guard.js'
import type { Denial } from '../rules/denial.js'
import { denial, tooManyExchanges } from '../rules/denial.js'
import { HOST_OVERRIDES } from '../rules/overrides.js'
import type { IncomingResponse } from '../upstream/transport.js'

import type { Connection, Shared } from './context.js'
import { relay } from './relay.js'

/** Judges each request of a connection, makes it on the tool's behalf, and passes the answer back. */
export const forwarder =
  (connection: Connection, shared: Shared): Handler =>
  async (request, reply) => {
    const { call, endpoint } = connection
    const path = pathOf(request.target)
    const refuse = async (why: Denial, status: 403 | 503 = 403): Promise<void> => {
      await shared.record(violationSeen(call.rights.callId, endpoint, why, { method: request.method, path }))
      await reply.send(
        refusal(status, `${request.method} ${renderEndpoint(endpoint)}${path} was refused: ${why.because}`, why.reason),
      )
    }
    if (call.isOver) throw fail('egress-closed', {})
    const stranger = mismatch(request, endpoint)
    if (stranger !== undefined) return refuse(stranger)
    const grant = call.judge.request(endpoint, request)
    if (grant.kind === 'denial') return refuse(grant)

    const bound = credentialsBoundTo(call.rights.credentials, endpoint.host, endpoint.port)
    const leave = await shared.exchanges.wait(call.rights.callId, reply.signal)
    if (isGone(reply)) {
      leave?.()
      throw fail('egress-closed', {})
    }
    if (leave === undefined) return refuse(tooManyExchanges(shared.exchanges.limits), 503)
    const started = shared.now()
    const counted = {
      sent: 0,
      received: 0,
      status: null as number | null,
      redactions: 0,
      problem: null as string | null,
    }
    // Nothing secret goes over a connection that others can read.
    const injected =
      request.scheme === 'https'
        ? credentialsWithin(bound, (scope) => call.judgeOf(scope).request(endpoint, request).kind === 'grant')
        : []
    try {
      await exchange(connection, shared, { request, reply, bound, injected, counted })
    } catch (error) {
      if (error instanceof Refused) {
        await refuse(error.denial)
        return
      }
      counted.problem = error instanceof CordonError ? error.code : 'egress-closed'
      if (reply.hasBegun() || reply.signal.aborted) reply.abort()
      else
        await reply.send(
          refusal(
            isFaultOfTool(error) ? 400 : 502,
            error instanceof CordonError ? error.agentMessage : 'the connection broke',
            counted.problem,
          ),
        )
      if (isFaultOfTool(error))
        await shared.record(
          violationSeen(call.rights.callId, endpoint, denial('malformed', error.message), {
            method: request.method,
            path,
          }),
        )
    } finally {
      leave()
      if (counted.status !== null || counted.problem !== null) {
        await shared.record({
          type: 'egress.request',
          call_id: call.rights.callId,
          connection: connection.number,
          host: renderHost(endpoint.host),
          port: endpoint.port,
          protocol: request.protocol,
          scheme: request.scheme,
          method: request.method,
          path,
          status: counted.status,
          bytes_sent: counted.sent,
          bytes_received: counted.received,
          duration_ms: shared.now() - started,
          rule: grant.rule,
          credentials: idsOf(injected.filter((credential) => isPutInto(credential, request))),
          redactions: counted.redactions,
          problem: counted.problem,
        })
      }
    }
  }

const isGone = ({ signal }: Reply): boolean => signal.aborted

/** A credential may be there by two policies, or for two ways. */
const idsOf = (credentials: readonly Credential[]): readonly string[] => [...new Set(credentials.map(({ id }) => id))]

/** One that takes the place of a stand-in is in a request only where the tool wrote that. */
const isPutInto = ({ inject, placeholder }: Credential, { target, headers }: ExchangeRequest): boolean =>
  inject.kind !== 'placeholder' ||
  placeholder === undefined ||
  target.includes(placeholder.text) ||
  headers.some(([, value]) => value.includes(placeholder.text))

const isFaultOfTool = (error: unknown): error is CordonError =>
  error instanceof CordonError && error.code === 'http-malformed'

/** A denial that shows only when it is tried. */
class Refused extends Error {
  readonly denial: Denial
  constructor(why: Denial) {
    super(why.because)
    this.denial = why
  }
}

interface Counted {
  sent: number
  received: number
  status: number | null
  redactions: number
  problem: string | null
}

interface Exchange {
  readonly request: ExchangeRequest
  readonly reply: Reply
  readonly bound: readonly Credential[]
  readonly injected: readonly Credential[]
  readonly counted: Counted
}

/** Answers before the answer: nobody needs many, and nothing keeps a server from sending them without end. */
const MOST_INFORMED = 16

const exchange = async (
  { call, endpoint }: Connection,
  shared: Shared,
  { request, reply, bound, injected, counted }: Exchange,
): Promise<void> => {
  const secrets = await Promise.all(bound.map(({ id }) => shared.secrets.get(id)))
  const valued: readonly Valued[] = bound.map((credential, at) => ({ credential, value: secrets[at]?.reveal() ?? '' }))
  const concealment = createConcealment(call.needles(secrets, valued), renderHost(endpoint.host))
  const authority = renderAuthority(endpoint, request.scheme)
  const plain: Draft = {
    method: request.method,
    authority,
    target: request.target,
    headers: searchable(request, bound),
    body: counting(request.body, (length) => {
      counted.sent += length
    }),
    client: undefined,
  }
  const draft =
    bound.length === 0
      ? plain
      : await injectAll(
          plain,
          valued.filter(({ credential }) => injected.includes(credential)),
          new Date(shared.now()),
        )
  const addresses = async (): Promise<readonly IpAddress[]> => {
    const found = await findAddresses(
      endpoint,
      { network: call.rights.network.network, pins: call.rights.pins, isNested: shared.isNested() },
      shared.resolve,
    )
    if ('kind' in found) throw new Refused(found)
    return found
  }
  let informed = 0
  const response = await shared.pool.send(
    {
      callId: call.rights.callId,
      endpoint,
      scheme: request.scheme,
      protocol: request.protocol === 'h2' ? 'h2' : 'http/1.1',
      client: draft.client,
      addresses,
    },
    {
      ...draft,
      scheme: request.scheme,
      signal: reply.signal,
      inform: (status, headers) => {
        if ((informed += 1) <= MOST_INFORMED) reply.inform(status, concealment.headers(headers))
      },
    },
  )
  counted.status = response.status
  // Perhaps it was changed in the meantime.
  if (response.status === 401) for (const { id } of injected) shared.secrets.forget(id)
  if (response.status === 101) {
    await upgrade(request, reply, response, concealment, counted)
  } else {
    const body =
      response.body === undefined
        ? undefined
        : counting(response.body, (length) => {
            counted.received += length
          })
    await reply.send(concealment.response({ ...response, body }))
  }
  counted.redactions = concealment.count()
}

const upgrade = async (
  request: ExchangeRequest,
  reply: Reply,
  { headers, switched }: IncomingResponse,
  concealment: Concealment,
  counted: Counted,
): Promise<void> => {
  if (!request.wantsWebSocket || switched === undefined) {
    switched?.destroy()
    throw fail('answer-malformed', { problem: 'the server switched to a protocol that nobody asked for' })
  }
  const tool = reply.switchProtocols(concealment.headers(headers))
  const { sent, received } = await relay(tool, switched, { redactor: concealment.stream() })
  counted.sent += sent
  counted.received += received
}

/** The connection was made to one endpoint, and every name that the request mentions has to be that one. */
const mismatch = ({ authorities, scheme }: ExchangeRequest, endpoint: Endpoint): Denial | undefined => {
  const other = authorities.find((authority) => {
    const named = parseEndpoint(authority, scheme === 'https' ? 443 : 80)
    return named === undefined || !isSameEndpoint(named, endpoint)
  })
  return other === undefined
    ? undefined
    : denial(
        'mismatch',
        `the connection leads to ${renderEndpoint(endpoint)}, but the request is for ` +
          JSON.stringify(other.slice(0, 260)),
      )
}

/** Of a host with a credential every answer must be searchable: whole, and in an encoding that can be undone. */
const searchable = ({ headers, wantsWebSocket }: ExchangeRequest, bound: readonly Credential[]): HeaderList => {
  const own = withoutHeaders(headers, HOST_OVERRIDES)
  const asked: HeaderList = wantsWebSocket ? [...own, ['Connection', 'Upgrade'], ['Upgrade', 'websocket']] : own
  if (bound.length === 0) return asked
  return withHeader(
    withoutHeaders(asked, new Set(['range', 'if-range', 'sec-websocket-extensions'])),
    'Accept-Encoding',
    acceptedCodings(headers),
  )
}

const counting = (body: Body | undefined, count: (length: number) => void): Body | undefined => {
  if (body === undefined) return undefined
  async function* chunks(of: Body): AsyncGenerator<Buffer, undefined> {
    for await (const chunk of of.chunks) {
      count(chunk.length)
      yield chunk
    }
  }
  return { ...body, chunks: chunks(body) }
}

export const refusal = (
  status: number,
  text: string,
  reason: string,
): { readonly status: number; readonly headers: HeaderList; readonly body: Body } => {
  const bytes = Buffer.from(`cordon: ${text}\n`)
  const chunks = {
    async *[Symbol.asyncIterator]() {
      yield await Promise.resolve(bytes)
    },
  }
  return {
    status,
    headers: [
      ['content-type', 'text/plain; charset=utf-8'],
      ['x-cordon-refused', reason],
      ['cache-control', 'no-store'],
      ['content-length', String(bytes.length)],
    ],
    body: { length: bytes.length, chunks, trailers: NO_TRAILERS },
  }
}
