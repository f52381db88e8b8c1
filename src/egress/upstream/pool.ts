import type { Socket } from 'node:net'

import type { IpAddress } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'
import { renderAuthority, renderEndpoint } from '../endpoint.js'

import type { ClientCertificate, UpstreamTls } from './dial.js'
import { dial } from './dial.js'
import { createHttp1Transport } from './http1-transport.js'
import { createHttp2Transport, tryHttp2 } from './http2-transport.js'
import type { IncomingResponse, OutgoingRequest, Transport } from './transport.js'

export interface Route {
  /** Connections are shared within a call, and with nobody else. */
  readonly callId: string
  readonly endpoint: Endpoint
  readonly scheme: 'http' | 'https'
  /** What the tool speaks; a server of `https` may choose the older one. */
  readonly protocol: 'http/1.1' | 'h2'
  readonly client: ClientCertificate | undefined
  /** Resolved and checked; asked whenever a new connection is needed. */
  readonly addresses: () => Promise<readonly IpAddress[]>
}

export interface Pool {
  readonly send: (route: Route, request: OutgoingRequest) => Promise<IncomingResponse>
  /** Closes all connections of a call. */
  readonly closeOf: (callId: string) => void
  readonly close: () => void
}

const IDLE_FOR = 30_000
/**
 * Of one call, to all hosts together: below a name that is granted with all others, a tool chooses how many it asks.
 */
const MOST_IDLE = 64
/**
 * Servers close what is idle, most of them after five seconds or more. A request that cannot be repeated does not take
 * that risk.
 */
const SURELY_ALIVE = 3_000

interface Shelf {
  readonly key: string
  readonly callId: string
  /** With the time since when each may have been idle. */
  readonly transports: Map<Transport, number>
  /** The connection whose server may turn out to speak HTTP/2, so that one is enough for all. */
  opening: Promise<Transport> | undefined
  /** Asked for HTTP/2 without TLS, the server did not speak it. */
  isOlder: boolean
}

const idleOn = ({ transports }: Shelf): readonly Transport[] =>
  [...transports.keys()].filter((transport) => transport.isFree())

/** What may be said twice, if the first time was in vain. */
const isRepeatable = ({ method, body }: OutgoingRequest): boolean =>
  body === undefined && ['GET', 'HEAD', 'OPTIONS'].includes(method)

export const createPool = (tls: UpstreamTls, isNested: () => boolean, now: () => number = Date.now): Pool => {
  const shelves = new Map<string, Shelf>()

  /** The one that has been idle longest goes first. */
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
      shelf.transports.set(transport, now())
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
    shelf.transports.set(transport, now())
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
    const secured = await tls.secure(socket, endpoint, {
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
  const send: Pool['send'] = async (route, request) => {
    const key = [
      route.callId,
      route.scheme,
      renderEndpoint(route.endpoint),
      route.protocol,
      route.client?.id ?? '',
    ].join(' ')
    const shelf = shelves.get(key) ?? {
      key,
      callId: route.callId,
      transports: new Map(),
      opening: undefined,
      isOlder: false,
    }
    shelves.set(key, shelf)
    const idle = idleOn(shelf).find(
      (transport) =>
        isRepeatable(request) ||
        transport.protocol === 'h2' ||
        now() - (shelf.transports.get(transport) ?? 0) < SURELY_ALIVE,
    )
    if (idle === undefined) return (await fresh(route, shelf)).send(request)
    try {
      return await idle.send(request)
    } catch (error) {
      // The server may have closed it in the moment in which we began. What has no body can be said again.
      if (!isRepeatable(request) || request.signal.aborted) throw error
      return (await fresh(route, shelf)).send(request)
    }
  }
  const closeWhere = (isMeant: (shelf: Shelf) => boolean): void => {
    for (const [key, shelf] of shelves) {
      if (!isMeant(shelf)) continue
      for (const transport of shelf.transports.keys()) transport.close()
      shelves.delete(key)
    }
  }
  return {
    send,
    closeOf: (callId) => {
      closeWhere((shelf) => shelf.callId === callId)
    },
    close: () => {
      closeWhere(() => true)
    },
  }
}
