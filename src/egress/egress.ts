import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'

import { fail } from '../errors/index.js'
import { parseRequestHost } from '../policy/index.js'

import { createTlsAuthority } from './authority/tls-authority.js'
import type { CallRights } from './call.js'
import { createCall } from './call.js'
import type { Shared } from './connection/context.js'
import type { ProxyUser } from './connection/proxy-client.js'
import { serveProxyClient, tokenHash } from './connection/proxy-client.js'
import { serveProxiedRequests } from './connection/proxied-request.js'
import { serveConnection } from './connection/serve-connection.js'
import { requireUsable } from './credentials/inject.js'
import type { SecretStore } from './credentials/secret-store.js'
import type { Endpoint } from './endpoint.js'
import type { RecordEvent } from './record.js'
import { violationSeen } from './record.js'
import type { Denial } from './rules/denial.js'
import { denial } from './rules/denial.js'
import { createUpstreamTls } from './upstream/dial.js'
import { createPool } from './upstream/pool.js'
import type { Resolve } from './upstream/resolve.js'
import { systemResolver } from './upstream/resolve.js'

export interface EgressSettings {
  readonly secrets: SecretStore
  readonly record: RecordEvent
  /** Certificates of authorities that are trusted besides the usual ones, in PEM. */
  readonly authorities?: readonly string[]
  readonly resolve?: Resolve
  readonly now?: () => number
  /** Connections that one call may hold at the same time. */
  readonly maxConnections?: number
}

/** The way out of one runtime. All of its secrets are in the memory of this process, and nowhere else. */
export interface Egress {
  /** What cells have to trust, in PEM. */
  readonly authorityCertificate: string
  /** Opens the network for one call. Fails when a credential of the call has no value. */
  readonly admit: (rights: CallRights) => Promise<EgressCall>
  /** Serves a program that was told of a proxy, where nobody knows of which call it is but by its secret. */
  readonly acceptProxyClient: (stream: Duplex) => void
  readonly close: () => void
}

/** What the broker of a cell asks, and gives. */
export interface EgressCall {
  /** Whether a name may be known to exist; asked before anything is looked up anywhere. */
  readonly mayResolve: (name: string) => boolean
  /** Asked before a connection is promised to the tool; a denial is recorded. */
  readonly mayConnect: (host: string, port: number) => Denial | undefined
  /**
   * Takes over a connection of the tool: whatever it sends is meant for `host:port`, as it asked for it.
   * The stream has to be half-open (`allowHalfOpen`), so that an end in one direction is passed on as such.
   */
  readonly accept: (stream: Duplex, host: string, port: number) => void
  /** Serves a program that was told of a proxy, and is known to be of this call: by the secret of another it gets nothing. */
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

export const createEgress = ({ secrets, record, authorities = [], resolve = systemResolver(), now = Date.now, maxConnections = 4096 }: EgressSettings): Egress => {
  const authority = createTlsAuthority({ now })
  const tls = createUpstreamTls(authorities)
  const shared: Shared = { authority, tls, pool: createPool(tls), resolve, secrets, record, now }
  const users = new Map<string, ProxyUser>()
  const ends = new Set<() => Promise<void>>()

  const admit: Egress['admit'] = async (rights) => {
    await Promise.all(rights.credentials.map(async (credential) => { requireUsable({ credential, value: (await secrets.get(credential.id)).reveal() }) }))
    const call = createCall(rights)
    const streams = new Set<Duplex>()
    const tell = (endpoint: Endpoint, why: Denial): Denial => {
      // The refusal stands whether or not it can be recorded.
      void Promise.resolve(record(violationSeen(rights.callId, endpoint, why))).catch(() => undefined)
      return why
    }
    const judge = (endpoint: Endpoint): Denial | undefined => {
      if (call.isOver) return denial('not-granted', 'the call is over')
      if (streams.size >= maxConnections) return tell(endpoint, denial('denied', `a call may hold ${maxConnections} connections`))
      const admission = call.judge.connection(endpoint)
      return admission.kind === 'denial' ? tell(endpoint, admission) : undefined
    }
    const hold = (stream: Duplex): void => {
      streams.add(stream)
      stream.once('close', () => streams.delete(stream))
    }
    const serving = new Set<Promise<unknown>>()
    const follow = (work: Promise<void>): void => {
      const settled = work.catch(() => undefined).finally(() => serving.delete(settled))
      serving.add(settled)
    }
    const accept = (stream: Duplex, endpoint: Endpoint): void => {
      hold(stream)
      const admission = call.judge.connection(endpoint)
      if (admission.kind === 'denial' || call.isOver || streams.size > maxConnections) stream.destroy()
      else follow(serveConnection(stream, { call, endpoint, number: call.nextConnection++ }, admission, shared))
    }
    const proxySecret = randomBytes(24).toString('base64url')
    const hash = tokenHash(proxySecret)
    const malformed = (problem: string): void => {
      void Promise.resolve(record({ type: 'sandbox.violation', call_id: rights.callId, violation: { kind: 'egress', host: '', port: 0, method: null, path: null, reason: 'malformed', because: problem, allow: null }, description: `refused a request to the proxy: ${problem}` })).catch(() => undefined)
    }
    const user: ProxyUser = {
      mayConnect: judge,
      accept,
      handlerFor: (endpoint) => judge(endpoint) ?? serveProxiedRequests({ call, endpoint, number: call.nextConnection++ }, shared),
      onMalformed: malformed,
      hold,
    }
    users.set(hash, user)
    const settle = async (): Promise<void> => {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise((resolve) => (timer = setTimeout(resolve, LONGEST_END)))
      await Promise.race([Promise.all(serving), late])
      clearTimeout(timer)
    }
    const end = async (): Promise<void> => {
      if (call.isOver) return
      call.isOver = true
      ends.delete(end)
      users.delete(hash)
      for (const stream of streams) stream.destroy()
      // Who shares by name may come back; who shares with nobody does not.
      if (rights.sharedBy === undefined) shared.pool.closeShared(call.sharedBy)
      await settle()
    }
    ends.add(end)
    const endpointOf = (host: string, port: number): Endpoint | undefined => {
      const parsed = parseRequestHost(host)
      return parsed === undefined || !Number.isInteger(port) || port < 1 || port > 65535 ? undefined : { host: parsed, port }
    }
    return {
      mayResolve: (name) => {
        const host = parseRequestHost(name)
        return host !== undefined && host.kind === 'name' && call.judge.mayResolve(host.name)
      },
      mayConnect: (host, port) => {
        const endpoint = endpointOf(host, port)
        return endpoint === undefined ? denial('malformed', 'the host or the port cannot be read in exactly one way') : judge(endpoint)
      },
      accept: (stream, host, port) => {
        const endpoint = endpointOf(host, port)
        if (endpoint === undefined) stream.destroy()
        else accept(stream, endpoint)
      },
      acceptProxyClient: (stream) => {
        if (call.isOver || streams.size >= maxConnections) {
          stream.destroy()
          return
        }
        // Until it has said the secret nobody else would break it when the call ends.
        hold(stream)
        follow(serveProxyClient(stream, (said) => {
          if (said === hash && !call.isOver) return user
          malformed('its secret is not that of this call')
          return undefined
        }))
      },
      proxySecret,
      placeholders: rights.credentials.flatMap(({ placeholder }) => placeholder ?? []),
      end,
    }
  }
  let isClosed = false
  return {
    authorityCertificate: authority.certificate,
    admit: (rights) => (isClosed ? Promise.reject(fail('egress-closed', {})) : admit(rights)),
    acceptProxyClient: (stream) => {
      void serveProxyClient(stream, (hash) => users.get(hash))
    },
    close: () => {
      isClosed = true
      for (const end of ends) void end()
      shared.pool.close()
      secrets.close()
    },
  }
}
