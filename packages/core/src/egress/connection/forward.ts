import { CordonError, fail } from '../../errors/index.js'
import { credentialsBoundTo, credentialsWithin, renderHost } from '../../policy/index.js'
import type { Credential } from '../../policy/index.js'
import type { RequestDraft, CredentialValue } from '../credentials/draft.js'
import { injectAll } from '../credentials/inject.js'
import type { Endpoint } from '../endpoint.js'
import { isSameEndpoint, parseEndpoint, renderAuthority, renderEndpoint } from '../endpoint.js'
import type { Body } from '../http/body.js'
import { wholeBody } from '../http/body.js'
import type { ExchangeRequest, ExchangeResponse, Handler, Reply } from '../http/exchange.js'
import type { HeaderList } from '../http/header-list.js'
import { valueOf, withHeader, withoutHeaders } from '../http/header-list.js'
import { pathOf, recordIfPossible, violationSeen } from '../record.js'
import { acceptedCodings } from '../redaction/content-coding.js'
import { createConcealment } from '../redaction/conceal.js'
import type { Concealment } from '../redaction/conceal.js'
import { findAddresses } from '../rules/address-guard.js'
import type { Denial } from '../rules/denial.js'
import { EgressDenied, denial, tooManyExchanges } from '../rules/denial.js'
import { HOST_OVERRIDES } from '../rules/overrides.js'
import type { IncomingResponse } from '../upstream/transport.js'

import { placeOf } from './context.js'
import type { Connection, ProxyParts } from './context.js'
import { relay } from './relay.js'

/** Judges each request of a connection, sends it on, and passes the answer back. */
export const forwarder =
  (connection: Connection, shared: ProxyParts): Handler =>
  async (request, reply) => {
    const { call, endpoint } = connection
    const path = pathOf(request.target)
    const recordRefusal = async (why: Denial): Promise<void> => {
      await shared.record(violationSeen(call.rights.callId, endpoint, why, { method: request.method, path }))
    }
    const refuse = async (why: Denial, status: 403 | 503 = 403): Promise<void> => {
      await recordRefusal(why)
      await reply.send(
        refusal(status, `${request.method} ${renderEndpoint(endpoint)}${path} was refused: ${why.because}`, why.reason),
      )
    }
    if (call.isOver) throw fail('egress-closed', {})
    const stranger = mismatch(request, endpoint)
    if (stranger !== undefined) return refuse(stranger)
    const grant = call.judge.request(endpoint, request)
    if (grant.kind === 'denial') return refuse(grant)

    const bound = credentialsBoundTo(call.rights.credentials, endpoint.host, endpoint.port).filter(({ id }) =>
      shared.secrets.isForPort(id, endpoint.port),
    )
    const leave = await shared.exchanges.wait(call.rights.callId, reply.signal)
    if (isGone(reply)) {
      leave?.()
      throw fail('egress-closed', {})
    }
    if (leave === undefined) return refuse(tooManyExchanges(shared.exchanges.limits), 503)
    const started = shared.now()
    const counted: Counted = { sent: 0, received: 0, status: null, redactions: 0, problem: null }
    // No secret goes over a connection that others can read.
    const injected =
      request.scheme === 'https'
        ? credentialsWithin(bound, (scope) => call.judgeOf(scope).request(endpoint, request).kind === 'grant')
        : []
    try {
      await exchange(connection, shared, { request, reply, bound, injected, counted })
    } catch (error) {
      if (error instanceof EgressDenied) {
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
      if (isFaultOfTool(error)) await recordRefusal(denial('malformed', error.message))
    } finally {
      leave()
      if (counted.status !== null || counted.problem !== null) {
        await shared.record({
          type: 'egress.request',
          ...placeOf(connection),
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

/**
 * For a program that asks the proxy for whole URLs. Each request is recorded as a connection, because each may be for
 * another host.
 */
export const serveProxiedRequests =
  (connection: Connection, shared: ProxyParts): Handler =>
  async (request, reply) => {
    const place = placeOf(connection)
    const started = shared.now()
    await shared.record({ type: 'egress.opened', ...place, treatment: 'http' })
    try {
      await forwarder(connection, shared)(request, reply)
    } finally {
      await recordIfPossible(shared.record, {
        type: 'egress.closed',
        ...place,
        bytes_sent: 0,
        bytes_received: 0,
        duration_ms: shared.now() - started,
        problem: null,
      })
    }
  }

const isGone = ({ signal }: Reply): boolean => signal.aborted

/** Two policies, or two ways to inject, may name the same credential. */
const idsOf = (credentials: readonly Credential[]): readonly string[] => [...new Set(credentials.map(({ id }) => id))]

/** A placeholder's credential is in a request only if the tool wrote the placeholder. */
const isPutInto = ({ inject, placeholder }: Credential, { target, headers }: ExchangeRequest): boolean =>
  inject.kind !== 'placeholder' ||
  placeholder === undefined ||
  target.includes(placeholder.text) ||
  headers.some(([, value]) => value.includes(placeholder.text))

const isFaultOfTool = (error: unknown): error is CordonError =>
  error instanceof CordonError && error.code === 'http-malformed'

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

/** Interim answers. A server could send them without end. */
const MOST_INFORMED = 16

const exchange = async (
  { call, endpoint }: Connection,
  shared: ProxyParts,
  { request, reply, bound, injected, counted }: Exchange,
): Promise<void> => {
  const secrets = await Promise.all(bound.map(({ id }) => shared.secrets.get(id)))
  const valued: readonly CredentialValue[] = bound.map((credential, at) => ({
    credential,
    value: secrets[at]?.reveal() ?? '',
  }))
  const concealment = createConcealment(call.needles(secrets, valued), renderHost(endpoint.host))
  const authority = renderAuthority(endpoint, request.scheme)
  const plain: RequestDraft = {
    method: request.method,
    authority,
    target: request.target,
    headers: searchable(request, bound),
    body: counting(request.body, counted, 'sent'),
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

  let informed = 0
  const response = await shared.pool.send(
    {
      callId: call.rights.callId,
      endpoint,
      scheme: request.scheme,
      protocol: request.protocol === 'h2' ? 'h2' : 'http/1.1',
      client: draft.client,
      addresses: () => findAddresses(endpoint, call.rights, shared),
    },
    {
      ...draft,
      signal: reply.signal,
      inform: (status, headers) => {
        if ((informed += 1) <= MOST_INFORMED) reply.inform(status, concealment.headers(headers))
      },
    },
  )
  counted.status = response.status
  if (response.status === 401 || response.status === 403)
    for (const { id } of injected)
      shared.secrets.onRefusal(id, response.status, valueOf(response.headers, 'www-authenticate'))
  if (response.status === 101) {
    await upgrade(request, reply, response, concealment, counted)
  } else {
    const body = counting(response.body, counted, 'received')
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
  const { sent, received } = await relay(tool, switched, { redactor: concealment.webSocket() })
  counted.sent += sent
  counted.received += received
}

/** Every host that the request names has to be the endpoint of the connection. */
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

/** Answers of a host with a credential must be searchable: whole, and in an encoding that can be decoded. */
const searchable = ({ headers, wantsWebSocket }: ExchangeRequest, bound: readonly Credential[]): HeaderList => {
  const own = withoutHeaders(headers, HOST_OVERRIDES)
  const asked: HeaderList = wantsWebSocket ? [...own, ['Connection', 'Upgrade'], ['Upgrade', 'websocket']] : own
  if (bound.length === 0) return asked
  return withHeader(
    withoutHeaders(asked, new Set(['range', 'if-range', 'sec-websocket-extensions', 'grpc-accept-encoding'])),
    'Accept-Encoding',
    acceptedCodings(headers),
  )
}

const counting = (body: Body | undefined, counted: Counted, count: 'sent' | 'received'): Body | undefined => {
  if (body === undefined) return undefined
  async function* chunks({ chunks: pieces }: Body): AsyncGenerator<Buffer, undefined> {
    for await (const chunk of pieces) {
      counted[count] += chunk.length
      yield chunk
    }
  }
  return { ...body, chunks: chunks(body) }
}

export const refusal = (status: number, text: string, reason: string): ExchangeResponse => {
  const bytes = Buffer.from(`cordon: ${text}\n`)
  return {
    status,
    headers: [
      ['content-type', 'text/plain; charset=utf-8'],
      ['x-cordon-refused', reason],
      ['cache-control', 'no-store'],
      ['content-length', String(bytes.length)],
    ],
    body: wholeBody(bytes),
  }
}
