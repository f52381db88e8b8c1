// Collects requests that went to a host without its credential. The server answers only "401", while the policy looks
// as if the credential were used.
import type { ConnectionEvent } from '../../egress/index.js'
import { coversEndpoint, parseRequestHost } from '../../policy/index.js'
import type { Credential } from '../../policy/index.js'

export interface BareRequests {
  readonly take: (event: ConnectionEvent) => void
  /** One line for each host and credential. */
  readonly lines: () => readonly string[]
}

const MOST = 5

/** The tool decides how long a path is, and the registry limits these lines. */
const LONGEST_PATH = 200
const shortened = (path: string): string => (path.length <= LONGEST_PATH ? path : `${path.slice(0, LONGEST_PATH)}…`)

export const createBareRequests = (credentials: readonly Credential[]): BareRequests => {
  const lines = new Map<string, string>()
  return {
    take: (event) => {
      if (event.type !== 'egress.request' || credentials.length === 0) return
      const host = parseRequestHost(event.host)
      if (host === undefined) return
      for (const { id, inject, hosts } of credentials) {
        // A placeholder is replaced only where the tool put it.
        if (
          inject.kind === 'placeholder' ||
          event.credentials.includes(id) ||
          !hosts.some((each) => coversEndpoint(each, host, event.port))
        )
          continue
        const key = `${id} ${event.host}:${event.port} ${event.scheme}`
        const why =
          event.scheme === 'http'
            ? 'nothing secret is sent without TLS; use https'
            : 'the policy that declares it does not allow that request, only another grant does (such as ' +
              '--net); let "network" of that policy allow it'
        if (!lines.has(key) && lines.size < MOST)
          lines.set(
            key,
            `${event.method} ${event.host}:${event.port}${shortened(event.path)} went without the ` +
              `credential "${id}": ${why}`,
          )
      }
    },
    lines: () => [...lines.values()],
  }
}
