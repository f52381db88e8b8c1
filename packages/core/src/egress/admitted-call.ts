// The network of one call: its connections, from the first one until all of them are recorded.
import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'

import { parseRequestHost } from '../policy/index.js'

import type { CallRights } from './call.js'
import { createCall } from './call.js'
import type { ProxyParts } from './connection/context.js'
import { serveProxiedRequests } from './connection/forward.js'
import type { ProxyUser } from './connection/proxy-client.js'
import { serveProxyClient } from './connection/proxy-client.js'
import { serveConnection } from './connection/serve-connection.js'
import type { Endpoint } from './endpoint.js'
import { recordIfPossible, violationSeen } from './record.js'
import type { Denial } from './rules/denial.js'
import { denial, tooManyConnections } from './rules/denial.js'
import { inTime } from './in-time.js'

export interface EgressCall {
  /** Asked before the tool gets a connection. A denial is recorded. */
  readonly mayConnect: (host: string, port: number) => Denial | undefined
  /**
   * Takes a connection that the tool made to `host:port`. The stream has to be half-open (`allowHalfOpen`), so that an
   * end in one direction is passed on.
   */
  readonly accept: (stream: Duplex, host: string, port: number) => void
  /** Serves a program of this call that uses the proxy. The secret of another call is refused. */
  readonly acceptProxyClient: (stream: Duplex) => void
  readonly proxySecret: string
  readonly placeholders: readonly { readonly name: string; readonly text: string }[]
  /** Closes all connections. Settles when they are recorded, or soon. */
  readonly end: () => Promise<void>
}

/** A name that is being resolved may keep a connection open. */
const LONGEST_END = 2_000

export const admitCall = (rights: CallRights, shared: ProxyParts): EgressCall => {
  const call = createCall(rights)
  const held = holdStreams()
  const { connections } = shared
  const refused = (endpoint: Endpoint | undefined, why: Denial): Denial => {
    void recordIfPossible(shared.record, violationSeen(rights.callId, endpoint, why))
    return why
  }
  const malformed = (problem: string): void => {
    refused(undefined, denial('malformed', problem))
  }
  const judge = (endpoint: Endpoint): Denial | undefined => {
    if (call.isOver) return denial('not-granted', 'the call is over')
    const admission = call.judge.connection(endpoint)
    return admission.kind === 'denial' ? refused(endpoint, admission) : undefined
  }
  /** False if there is no slot. A connection to the proxy keeps its slot when it becomes one to a host. */
  const admit = (stream: Duplex, endpoint: Endpoint | undefined): boolean => {
    if (held.has(stream)) return true
    const leave = connections.take(rights.callId)
    if (leave === undefined) {
      refused(endpoint, tooManyConnections(connections.limits))
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
  const proxySecret = randomBytes(24).toString('base64url')
  const user: ProxyUser = {
    isKnownBy: (secret) => {
      const isKnown = isSameSecret(secret, proxySecret) && !call.isOver
      if (!isKnown) malformed('its secret is not that of this call')
      return isKnown
    },
    mayConnect: judge,
    accept,
    handlerFor: (endpoint) =>
      judge(endpoint) ?? serveProxiedRequests({ call, endpoint, number: call.nextConnection++ }, shared),
    onMalformed: malformed,
  }
  return {
    mayConnect: (host, port) => {
      const endpoint = endpointOf(host, port)
      if (endpoint === undefined) return denial('malformed', 'the host or the port cannot be read in exactly one way')
      return (
        judge(endpoint) ??
        (connections.hasSlot(rights.callId) ? undefined : refused(endpoint, tooManyConnections(connections.limits)))
      )
    },
    accept: (stream, host, port) => {
      const endpoint = endpointOf(host, port)
      if (endpoint === undefined) stream.destroy()
      else accept(stream, endpoint)
    },
    acceptProxyClient: (stream) => {
      if (call.isOver || !admit(stream, undefined)) stream.destroy()
      else held.follow(serveProxyClient(stream, user))
    },
    proxySecret,
    placeholders: rights.credentials.flatMap(({ placeholder }) => placeholder ?? []),
    end: async () => {
      if (call.isOver) return
      call.isOver = true
      held.breakAll()
      shared.pool.close(rights.callId)
      await held.settled()
    },
  }
}

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
    settled: (): Promise<unknown> => inTime(LONGEST_END, Promise.all(serving)),
  }
}

/** Compares hashes, so that the time tells nothing about the secret. */
const isSameSecret = (left: string, right: string): boolean => hashOf(left) === hashOf(right)

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

const endpointOf = (host: string, port: number): Endpoint | undefined => {
  const parsed = parseRequestHost(host)
  return parsed === undefined || !Number.isInteger(port) || port < 1 || port > 65535
    ? undefined
    : { host: parsed, port }
}
