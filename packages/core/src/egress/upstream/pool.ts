import type { Socket } from 'node:net'

import type { IpAddress } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'
import { renderAuthority, renderEndpoint } from '../endpoint.js'

import type { ClientCertificate, SecureUpstream } from './dial.js'
import { dial } from './dial.js'
import { createHttp1Transport } from './http1-transport.js'
import { createHttp2Transport, tryHttp2 } from './http2-transport.js'
import type { IncomingResponse, OutgoingRequest, Transport } from './transport.js'

export interface Route {
  /** Connections are shared only within a call. */
  readonly callId: string
  readonly endpoint: Endpoint
  readonly scheme: 'http' | 'https'
  /** The tool's protocol. A server of `https` may choose the older one. */
  readonly protocol: 'http/1.1' | 'h2'
  readonly client: ClientCertificate | undefined
  /** Resolved and checked for each new connection. */
  readonly addresses: () => Promise<readonly IpAddress[]>
}

export interface UpstreamPool {
  readonly send: (route: Route, request: OutgoingRequest) => Promise<IncomingResponse>
  /** Closes the connections of a call, or all. */
  readonly close: (callId?: string) => void
}

const IDLE_FOR = 30_000
/** Of one call, to all hosts together: with a granted subtree of names a tool chooses how many it asks. */
const MOST_IDLE = 64
/** Most servers close idle connections after five seconds or more. A request that cannot be repeated takes no risk. */
const SURELY_ALIVE = 3_000

interface Shelf {
  readonly key: string
  readonly callId: string
  /** With the time from which each may have been idle. */
  readonly transports: Map<Transport, number>
  /** A connection whose server may speak HTTP/2, so that one is enough. */
  opening: Promise<Transport> | undefined
  /** Without TLS the server did not speak HTTP/2. */
  isOlder: boolean
}

/** May be sent again after a failure. */
const isRepeatable = ({ method, body }: OutgoingRequest): boolean =>
  body === undefined && ['GET', 'HEAD', 'OPTIONS'].includes(method)

export const createUpstreamPool = (secure: SecureUpstream, isNested: () => boolean): UpstreamPool => {
  const shelves = new Map<string, Shelf>()

  /** Closes those that have been idle longest. */
  const closeBeyond = (callId: string): void => {
    const idle = [...shelves.values()]
      .filter((shelf) => shelf.callId === callId)
      .flatMap(({ transports }) => [...transports])
      .filter(([transport]) => transport.isIdle())
    if (idle.length <= MOST_IDLE) return
    idle.sort(([, left], [, right]) => left - right)
    for (const [transport] of idle.slice(0, idle.length - MOST_IDLE)) transport.close()
  }
  const open = async (route: Route, shelf: Shelf): Promise<Transport> => {
    closeBeyond(route.callId)
    const addresses = await route.addresses()
    let socket = await dial(route.endpoint, addresses, isNested())
    let timer: NodeJS.Timeout | undefined
    const onFree = (): void => {
      shelf.transports.set(transport, Date.now())
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (transport.isFree()) transport.close()
      }, IDLE_FOR).unref()
    }
    const plain =
      route.scheme === 'http' && route.protocol === 'h2' && !shelf.isOlder
        ? await tryHttp2(socket, renderAuthority(route.endpoint, route.scheme))
        : undefined
    if (plain === undefined && socket.destroyed) {
      shelf.isOlder = true
      socket = await dial(route.endpoint, addresses, isNested())
    }
    const transport = plain ?? (await transportOn(socket, route, onFree))
    shelf.transports.set(transport, Date.now())
    socket.once('close', () => {
      clearTimeout(timer)
      shelf.transports.delete(transport)
      if (shelf.transports.size === 0 && shelf.opening === undefined && shelves.get(shelf.key) === shelf)
        shelves.delete(shelf.key)
    })
    return transport
  }
  const transportOn = async (
    socket: Socket,
    { endpoint, scheme, protocol, client }: Route,
    onFree: () => void,
  ): Promise<Transport> => {
    const authority = renderAuthority(endpoint, scheme)
    if (scheme === 'http') return createHttp1Transport(socket, authority, onFree)
    const secured = await secure(socket, endpoint, {
      protocols: protocol === 'h2' ? ['h2', 'http/1.1'] : ['http/1.1'],
      client,
    })
    return secured.alpnProtocol === 'h2'
      ? createHttp2Transport(secured, authority)
      : createHttp1Transport(secured, authority, onFree)
  }
  const fresh = async (route: Route, shelf: Shelf): Promise<Transport> => {
    if (route.protocol === 'http/1.1') return open(route, shelf)
    if (shelf.opening !== undefined) {
      const opened = await shelf.opening
      if (opened.isFree()) return opened
    }
    const opening = open(route, shelf)
    shelf.opening = opening
    try {
      return await opening
    } finally {
      if (shelf.opening === opening) shelf.opening = undefined
    }
  }
  const send: UpstreamPool['send'] = async (route, request) => {
    const { callId, endpoint, scheme, protocol, client } = route
    const key = [callId, scheme, renderEndpoint(endpoint), protocol, client?.id ?? ''].join(' ')
    const shelf: Shelf = shelves.get(key) ?? { key, callId, transports: new Map(), opening: undefined, isOlder: false }
    shelves.set(key, shelf)
    const [idle] =
      [...shelf.transports].find(
        ([transport, since]) =>
          transport.isFree() &&
          (isRepeatable(request) || transport.protocol === 'h2' || Date.now() - since < SURELY_ALIVE),
      ) ?? []
    if (idle === undefined) return (await fresh(route, shelf)).send(request)
    try {
      return await idle.send(request)
    } catch (error) {
      // The server may have closed it just now. A request without a body can be sent again.
      if (!isRepeatable(request) || request.signal.aborted) throw error
      return (await fresh(route, shelf)).send(request)
    }
  }
  const close = (callId?: string): void => {
    for (const [key, shelf] of shelves) {
      if (callId !== undefined && shelf.callId !== callId) continue
      for (const transport of shelf.transports.keys()) transport.close()
      shelves.delete(key)
    }
  }
  return { send, close }
}
