// Records the network of one call: event by event up to a limit, because the tool decides how many there are, and the
// rest as a sum.
import type { ConnectionEvent } from '../../egress/index.js'
import { coversEndpoint, parseRequestHost } from '../../policy/index.js'
import type { Credential } from '../../policy/index.js'

import { createEgressTally } from './egress-tally.js'
import type { EventStream } from './event-stream.js'
import type { EgressSummary } from './event.js'
import type { CallIds } from './process-ending.js'

interface EgressLog {
  /** Resolves when the event is in the log, or when the log says that further events are summed up. */
  readonly record: (event: ConnectionEvent) => Promise<void>
  /** Records the sum of the events beyond the limit. */
  readonly finish: () => Promise<void>
  /** The sum of all events. */
  readonly summary: () => EgressSummary | null
  /** Requests that went to a host without its credential: one line for each host and credential. */
  readonly bareRequests: () => readonly string[]
}

/** About 6 MB: more than the installation of a thousand packages needs. */
const MOST_ENTRIES = 10_000

/** Thousands of connections may end at once, with the tool. Events beyond these wait, so that other calls go on. */
const MOST_PER_TURN = 8

export const createEgressLog = (
  events: EventStream,
  ids: CallIds,
  credentials: readonly Credential[],
  most: number = MOST_ENTRIES,
): EgressLog => {
  const [all, unlisted] = [createEgressTally(), createEgressTally()]
  const bare = createBareRequests(credentials)
  let listed = 0
  let announced: Promise<unknown> | undefined
  let inThisTurn = 0
  let followingTurn: Promise<void> | undefined
  const waitForTurn = async (): Promise<void> => {
    while (inThisTurn === MOST_PER_TURN) await followingTurn
    inThisTurn += 1
    followingTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        inThisTurn = 0
        followingTurn = undefined
        resolve()
      })
    })
  }
  const tell = (sum: EgressSummary | null) => events.emit({ type: 'egress.summed', ...ids, entries: listed, sum })
  return {
    record: async (event) => {
      if (listed < most) {
        listed += 1
        await waitForTurn()
        await events.emit({ ...event, ...ids })
      } else {
        // Recorded before the connection goes on, so that the log is right even after a kill.
        await (announced ??= tell(null))
        unlisted.take(event)
      }
      all.take(event)
      bare.take(event)
    },
    finish: async () => {
      if (announced === undefined) return
      await announced
      await tell(unlisted.summary())
    },
    summary: all.summary,
    bareRequests: bare.lines,
  }
}

const MOST_BARE = 5

/** The tool decides how long a path is, and the registry limits these lines. */
const LONGEST_PATH = 200
const shortened = (path: string): string => (path.length <= LONGEST_PATH ? path : `${path.slice(0, LONGEST_PATH)}…`)

/** The server answers only "401" to such a request, while the policy looks as if the credential were used. */
const createBareRequests = (credentials: readonly Credential[]) => {
  const lines = new Map<string, string>()
  return {
    take: (event: ConnectionEvent): void => {
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
        if (!lines.has(key) && lines.size < MOST_BARE)
          lines.set(
            key,
            `${event.method} ${event.host}:${event.port}${shortened(event.path)} went without the ` +
              `credential "${id}": ${why}`,
          )
      }
    },
    lines: (): readonly string[] => [...lines.values()],
  }
}
