// Serves a store to other processes over HTTP, on this host or beyond.
import { setMaxListeners } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIPv6 } from 'node:net'
import { isLoopbackHost, listenOnAddress, renderAddress, requireEncrypted, requireSafe } from 'cordon/runtime'
import type { Door, ListenAddress } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import {
  countTokens,
  maintainRegistry,
  migrate,
  openRegistry,
  orClose,
  speakingAs,
  watchChanges,
} from '../store/index.js'
import type { Engine } from '../store/index.js'
import { answerRequest } from './answer-request.js'
import type { Answering } from './answer-request.js'
import { listenOnSocket } from './listen-socket.js'
import { describeApi } from './openapi.js'
import { createShares } from './shares.js'
import type { ShareLimits } from './shares.js'

export interface ServeSettings {
  readonly engine: Engine
  readonly version: string
  readonly socket?: string
  readonly listen?: ListenAddress
  readonly tls?: { readonly cert: string; readonly key: string }
  /** A proxy on another host encrypts. */
  readonly allowsPlainHttp?: boolean
  /** Further names of this server, with or without a port. */
  readonly hosts?: readonly string[]
  /** The default actor of clients of the socket. */
  readonly ownerName: string
  readonly mostBodyBytes?: number
  /** A request that takes longer to arrive is dropped. */
  readonly requestTimeoutMs?: number
  /** Database connections, which callers share. */
  readonly connections?: number
  /** The longest statement. The engine tells the database too. */
  readonly statementMs?: number
  readonly shares?: Partial<ShareLimits>
  readonly report: (error: unknown) => void
}

export interface ServedStore {
  /** For clients. */
  readonly addresses: readonly string[]
  /** Answers open requests, then closes the store. */
  readonly close: () => Promise<void>
}

const MOST_BODY_BYTES = 4 * 1024 * 1024
const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
const CHECK_MS = 1_000
const MOST_HEADER_BYTES = 16 * 1024
const MOST_CONNECTIONS = 2_000
const LONGEST_WAIT_MS = 60_000
/** Rare, because all waiting requests query again. */
const ASK_AGAIN_MS = 5_000
const UPKEEP_MS = 30_000
const LAST_WORDS_MS = 10_000
export const CONNECTIONS = 10
export const STATEMENT_MS = 15_000
/** An operation has a few statements. */
const STATEMENTS = 4
/** Open requests: fewer than connections. */
const OPEN = { caller: 256, team: 1_024, all: 1_800 }
const PATIENCE_MS = 20_000
const MIB = 1024 * 1024
/** Bytes of requests and answers on their way. */
const BYTES = { caller: 64 * MIB, team: 128 * MIB, all: 256 * MIB }
export const MOST_ANSWER_BYTES = 16 * MIB
/** Upkeep deletes old rows. */
const UPKEEP_STATEMENT_MS = 600_000

export const serveStore = async (settings: ServeSettings): Promise<ServedStore> => {
  const { engine, socket, listen, tls } = settings
  if (socket === undefined && listen === undefined)
    throw fail('listen-refused', {
      where: 'nothing',
      problem: 'neither a socket nor an address is named',
      fix: 'name --socket or --listen',
    })
  const exposure = { hasTls: tls !== undefined, allowsPlainHttp: settings.allowsPlainHttp ?? false }
  if (listen !== undefined) requireEncrypted(listen, exposure)
  await orClose(engine, async () => {
    await migrate(engine)
    if (listen !== undefined) requireSafe(listen, { ...exposure, usableTokens: await countTokens(engine) })
  })
  const ending = new AbortController()
  // Every request listens to it.
  setMaxListeners(0, ending.signal)
  const registry = openRegistry(engine, watchChanges(engine, { askAgainMs: ASK_AGAIN_MS }))
  const answering = {
    engine,
    registry,
    api: JSON.stringify(describeApi(settings.version)),
    ownerName: settings.ownerName,
    mostBodyBytes: settings.mostBodyBytes ?? MOST_BODY_BYTES,
    longestWaitMs: LONGEST_WAIT_MS,
    answerMs: (settings.statementMs ?? STATEMENT_MS) * STATEMENTS,
    shares: createShares({ ...sharesOf(settings.connections ?? CONNECTIONS), ...settings.shares }),
    ending: ending.signal,
    report: settings.report,
  }
  const servers: Server[] = []
  const addresses: string[] = []
  const stop = async (): Promise<void> => {
    ending.abort()
    await Promise.all(servers.map(closeServer))
    await registry.close()
    await engine.close()
  }
  try {
    if (socket !== undefined) {
      const server = makeServer(undefined, settings, listenerOf(answering, SOCKET_DOOR))
      servers.push(server)
      await listenOnSocket(server, socket)
      addresses.push(`unix:${socket}`)
    }
    if (listen !== undefined) {
      const hosts = new Set<string>()
      const origins = new Set<string>()
      const server = makeServer(tls, settings, listenerOf(answering, { kind: 'tcp', hosts, origins }))
      servers.push(server)
      const port = await listenOnAddress(server, listen)
      const scheme = tls === undefined ? 'http' : 'https'
      for (const name of namesOf({ host: listen.host, port }, settings.hosts ?? [])) hosts.add(name)
      for (const name of hosts) origins.add(`${scheme}://${name}`)
      addresses.push(`${scheme}://${renderAddress({ host: listen.host, port })}`)
    }
  } catch (error) {
    await stop()
    throw error
  }
  // One failed connection does not end the server.
  for (const server of servers) server.on('error', settings.report)
  let closing: Promise<void> | undefined
  const speaker = { kind: 'gateway', role: 'cordon_runner', actor: settings.ownerName } as const
  const asRunner = speakingAs(engine, speaker, { longestMs: UPKEEP_STATEMENT_MS })
  const upkeep = setInterval(() => void maintainRegistry(asRunner).catch(settings.report), UPKEEP_MS)
  upkeep.unref()
  return {
    addresses,
    close: () => {
      clearInterval(upkeep)
      return (closing ??= stop())
    },
  }
}

/** A team gets at most three quarters of the connections, and one caller half of them. */
const sharesOf = (connections: number): ShareLimits => ({
  turns: {
    all: connections,
    team: Math.max(1, Math.floor((connections * 3) / 4)),
    caller: Math.max(1, Math.floor(connections / 2)),
  },
  open: OPEN,
  bytes: BYTES,
  patienceMs: PATIENCE_MS,
})

/** Web pages cannot reach a socket. Programs use this name. */
const SOCKET_DOOR: Door = { kind: 'socket', hosts: new Set(['localhost']), origins: new Set() }

const listenerOf =
  (answering: Omit<Answering, 'door'>, door: Door): RequestListener =>
  (request, response) =>
    void answerRequest(request, response, { ...answering, door })

const makeServer = (
  tls: ServeSettings['tls'],
  { requestTimeoutMs = REQUEST_TIMEOUT_MS }: ServeSettings,
  listener: RequestListener,
): Server => {
  const options: ServerOptions = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(CHECK_MS, requestTimeoutMs),
    maxHeaderSize: MOST_HEADER_BYTES,
    keepAliveTimeout: 5_000,
  }
  const server =
    tls === undefined
      ? createServer(options, listener)
      : createTlsServer({ ...options, ...tls, minVersion: 'TLSv1.2' }, listener)
  server.maxConnections = MOST_CONNECTIONS
  return server
}

/** Valid values of Host. A wildcard address is no name of this server: --host gives one. */
const namesOf = ({ host, port }: ListenAddress, given: readonly string[]): readonly string[] => [
  ...(host === '0.0.0.0' || host === '::' ? [] : [renderAddress({ host, port })]),
  ...(isLoopbackHost(host) ? [`localhost:${port}`] : []),
  ...given
    .map((name) => name.toLowerCase())
    .flatMap((name) => (/:\d+$/.test(name) && !isIPv6(name) ? [name] : [name, `${name}:${port}`])),
]

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    if (!server.listening) {
      resolve()
      return
    }
    // Open requests have this long to be answered.
    const last = setTimeout(() => {
      server.closeAllConnections()
    }, LAST_WORDS_MS)
    server.close(() => {
      clearTimeout(last)
      resolve()
    })
    server.closeIdleConnections()
  })
