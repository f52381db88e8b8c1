// Requests of Cordon itself, such as those of a login. The rules of the proxy hold for them too.
import { CordonError, fail } from '../errors/index.js'
import { isLoopback, renderHost } from '../policy/index.js'
import type { HostGrant, IpAddress } from '../policy/index.js'

import type { Endpoint } from './endpoint.js'
import { parseEndpoint, renderAuthority } from './endpoint.js'
import { readWhole, wholeBody } from './http/body.js'
import { isHeaderValue } from './http/header-list.js'
import { findAddresses } from './rules/address-guard.js'
import { EgressDenied } from './rules/denial.js'
import { createSecureUpstream, dial } from './upstream/dial.js'
import { createHttp1Transport } from './upstream/http1-transport.js'
import type { Resolve } from './upstream/resolve.js'
import { systemResolver } from './upstream/resolve.js'
import { inTime } from './in-time.js'

export interface OwnRequestSettings {
  /** What the user typed. Other addresses come from servers, so they cannot lead into a private network. */
  readonly named: URL
  /** More trusted authorities, in PEM. */
  readonly authorities: readonly string[]
  /** Addresses that the user gave to names. */
  readonly pins: ReadonlyMap<string, readonly IpAddress[]>
  readonly resolve?: Resolve
  readonly isNested?: () => boolean
  /** For a whole exchange, in milliseconds. */
  readonly timeout?: number
}

export interface OwnRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** No redirect is followed: its answer is returned. */
export type SendOwn = (url: URL, request: OwnRequest) => Promise<Response>

const TIMEOUT = 15_000
const MOST_BYTES = 1 << 18

export const createOwnRequests = ({
  named,
  authorities,
  pins,
  resolve = systemResolver(),
  isNested = () => false,
  timeout = TIMEOUT,
}: OwnRequestSettings): SendOwn => {
  const secure = createSecureUpstream(authorities)

  const exchange = async (url: URL, request: OwnRequest, signal: AbortSignal): Promise<Response> => {
    const { endpoint, scheme } = destinationOf(url, named)
    const rights = { network: { network: { kind: 'hosts' as const, entries: grantsOf(url, named, endpoint) } }, pins }
    const socket = await dial(endpoint, await findAddresses(endpoint, rights, { resolve, isNested }), isNested())
    signal.addEventListener('abort', () => socket.destroy())
    const stream =
      scheme === 'https' ? await secure(socket, endpoint, { protocols: ['http/1.1'], client: undefined }) : socket
    const authority = renderAuthority(endpoint, scheme)
    const transport = createHttp1Transport(stream, authority, () => undefined)
    try {
      const { status, headers, body } = await transport.send({
        method: request.method,
        authority,
        target: `${url.pathname}${url.search}`,
        signal,
        headers: [...Object.entries(request.headers), ['Accept-Encoding', 'identity'], ['Connection', 'close']],
        body: request.body === undefined ? undefined : wholeBody(Buffer.from(request.body)),
        inform: () => undefined,
      })
      const bytes = body && (await readWhole(body, MOST_BYTES))
      if (body !== undefined && bytes === undefined)
        throw fail('upstream-broke', { host: authority, problem: `its answer is longer than ${MOST_BYTES} bytes` })
      return new Response(isEmpty(status) ? null : bytes, { status, headers: headers.map(([...pair]) => pair) })
    } finally {
      transport.close()
    }
  }
  return async (url, request) => {
    const ended = new AbortController()
    try {
      const answer = await inTime(timeout, exchange(url, request, ended.signal))
      if (answer !== 'late') return answer
      ended.abort()
      throw fail('upstream-unreachable', { host: url.host, problem: `no answer within ${timeout} ms` })
    } catch (error) {
      if (error instanceof EgressDenied) throw refused(url, error.message)
      if (error instanceof CordonError) throw error
      throw fail('upstream-broke', { host: url.host, problem: 'its answer cannot be read' })
    }
  }
}

/** Whether plain HTTP to it stays on this machine. A name could lead elsewhere. */
export const isThisMachine = ({ host }: URL): boolean => {
  const endpoint = parseEndpoint(host, 80)
  return endpoint?.host.kind === 'address' && isLoopback(endpoint.host.address)
}

const destinationOf = (url: URL, named: URL): { readonly endpoint: Endpoint; readonly scheme: 'http' | 'https' } => {
  const isPlain = url.protocol === 'http:' && url.origin === named.origin && isThisMachine(named)
  if (url.protocol !== 'https:' && !isPlain) throw refused(url, 'its address is not https')
  if (url.username !== '' || url.password !== '') throw refused(url, 'its address contains a password')
  const endpoint = parseEndpoint(url.host, isPlain ? 80 : 443)
  if (endpoint === undefined || !isHeaderValue(url.host)) throw refused(url, 'its address names no host')
  return { endpoint, scheme: isPlain ? 'http' : 'https' }
}

/** A bare address is granted if the user typed it, with exactly this port. */
const grantsOf = (url: URL, named: URL, { host, port }: Endpoint): readonly HostGrant[] =>
  url.origin === named.origin && host.kind === 'address'
    ? [
        {
          text: renderHost(host),
          destination: { kind: 'address', address: host.address },
          port: { kind: 'port', port },
          methods: { kind: 'all' },
          paths: { kind: 'all' },
          action: 'allow',
        },
      ]
    : []

const isEmpty = (status: number): boolean => [204, 205, 304].includes(status)

const refused = (url: URL, problem: string): CordonError => fail('own-request-refused', { host: url.host, problem })
