// One call on the network: its connections, from the first to when all of them are recorded.
import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'

import { parseRequestHost } from '../policy/index.js'

import type { CallRights } from './call.js'
import { createCall } from './call.js'
import type { Shared } from './connection/context.js'
import { serveProxiedRequests } from './connection/proxied-request.js'
import type { ProxyUser } from './connection/proxy-client.js'
import { serveProxyClient, tokenHash } from './connection/proxy-client.js'
import { serveConnection } from './connection/serve-connection.js'
import type { Endpoint } from './endpoint.js'
import { deniedSeen, malformedSeen, violationSeen } from './record.js'
import type { ViolationSeen } from './record.js'
import type { Denial } from './rules/denial.js'
import { denial, tooManyConnections } from './rules/denial.js'

/** What the broker of a cell asks, and gives. */
export interface EgressCall {
  /** Asked before a connection is promised to the tool; a denial is recorded. */
  readonly mayConnect: (host: string, port: number) => Denial | undefined
  /**
   * Takes over a connection of the tool: whatever it sends is meant for `host:port`, as it asked for it.
   * The stream has to be half-open (`allowHalfOpen`), so that an end in one direction is passed on as such.
   */
  readonly accept: (stream: Duplex, host: string, port: number) => void
  /**
   * Serves a program that was told of a proxy, and is known to be of this call: by the secret of another it gets
   * nothing.
   */
  readonly acceptProxyClient: (stream: Duplex) => void
  /** The secret by which programs that use a proxy are known to be of this call. */
  readonly proxySecret: string
  /** Variables with stand-ins for credentials. */
  readonly placeholders: readonly { readonly name: string; readonly text: string }[]
  /** Breaks all connections and forgets the call. Answers when what became of them is recorded, or soon. */
  readonly end: () => Promise<void>
}

/** A server that is just being looked for may keep a connection from ending. */
const LONGEST_END = 2_000

export const admitCall = (rights: CallRights, shared: Shared): EgressCall => {
  const call = createCall(rights)
  const held = holdStreams()
  const { connections } = shared
  // The refusal stands whether or not it can be recorded.
  const tell = (seen: ViolationSeen): void => void Promise.resolve(shared.record(seen)).catch(() => undefined)
  const refused = (endpoint: Endpoint, why: Denial): Denial => {
    tell(violationSeen(rights.callId, endpoint, why))
    return why
  }
  const malformed = (problem: string): void => {
    tell(malformedSeen(rights.callId, problem))
  }
  const judge = (endpoint: Endpoint): Denial | undefined => {
    if (call.isOver) return denial('not-granted', 'the call is over')
    const admission = call.judge.connection(endpoint)
    return admission.kind === 'denial' ? refused(endpoint, admission) : undefined
  }
  /** False when there is no place for it. A connection to the proxy has one already when it becomes one to a host. */
  const admit = (stream: Duplex, endpoint: Endpoint | undefined): boolean => {
    if (held.has(stream)) return true
    const leave = connections.take(rights.callId)
    if (leave === undefined) {
      const why = tooManyConnections(connections.limits)
      tell(endpoint === undefined ? deniedSeen(rights.callId, why) : violationSeen(rights.callId, endpoint, why))
      return false
    }
    held.hold(stream)
    stream.once('close', leave)
    return true
  }
  const accept = (stream: Duplex, endpoint: Endpoint): void => {
    const admission = call.judge.connection(endpoint)
    if (admission.kind === 'denial' || call.isOver || !admit(stream, endpoint)) stream.destroy()
    else held.follow(serveConnection(stream, { call, endpoint, number: call.nextConnection++ }, admission, shared))
  }
  const user: ProxyUser = {
    mayConnect: judge,
    accept,
    handlerFor: (endpoint) =>
      judge(endpoint) ?? serveProxiedRequests({ call, endpoint, number: call.nextConnection++ }, shared),
    onMalformed: malformed,
    hold: held.hold,
  }
  const proxySecret = randomBytes(24).toString('base64url')
  const hash = tokenHash(proxySecret)
  return {
    mayConnect: (host, port) => {
      const endpoint = endpointOf(host, port)
      if (endpoint === undefined) return denial('malformed', 'the host or the port cannot be read in exactly one way')
      return (
        judge(endpoint) ??
        (connections.hasPlace(rights.callId) ? undefined : refused(endpoint, tooManyConnections(connections.limits)))
      )
    },
    accept: (stream, host, port) => {
      const endpoint = endpointOf(host, port)
      if (endpoint === undefined) stream.destroy()
      else accept(stream, endpoint)
    },
    acceptProxyClient: (stream) => {
      // Held from now on: until it has said the secret nobody else would break it when the call ends.
      if (call.isOver || !admit(stream, undefined)) {
        stream.destroy()
        return
      }
      held.follow(
        serveProxyClient(stream, (said) => {
          if (said === hash && !call.isOver) return user
          malformed('its secret is not that of this call')
          return undefined
        }),
      )
    },
    proxySecret,
    placeholders: rights.credentials.flatMap(({ placeholder }) => placeholder ?? []),
    end: async () => {
      if (call.isOver) return
      call.isOver = true
      held.breakAll()
      shared.pool.closeOf(rights.callId)
      await held.settled()
    },
  }
}

/** The tool's connections, and the work that is done for them. */
const holdStreams = () => {
  const streams = new Set<Duplex>()
  const serving = new Set<Promise<unknown>>()
  return {
    has: (stream: Duplex): boolean => streams.has(stream),
    hold: (stream: Duplex): void => {
      streams.add(stream)
      stream.once('close', () => streams.delete(stream))
    },
    follow: (work: Promise<void>): void => {
      const settled = work.catch(() => undefined).finally(() => serving.delete(settled))
      serving.add(settled)
    },
    breakAll: (): void => {
      for (const stream of streams) stream.destroy()
    },
    settled: async (): Promise<void> => {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise((resolve) => (timer = setTimeout(resolve, LONGEST_END)))
      await Promise.race([Promise.all(serving), late])
      clearTimeout(timer)
    },
  }
}

const endpointOf = (host: string, port: number): Endpoint | undefined => {
  const parsed = parseRequestHost(host)
  return parsed === undefined || !Number.isInteger(port) || port < 1 || port > 65535
    ? undefined
    : { host: parsed, port }
}
