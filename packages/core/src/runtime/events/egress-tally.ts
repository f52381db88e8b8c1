// Adds up the connections of one call, for each host and in sum.
import type { ConnectionEvent } from '../../egress/index.js'

import type { EgressSummary, ReachedHost } from './event.js'

export interface EgressTally {
  readonly take: (event: ConnectionEvent) => void
  /** Adds an earlier summary. */
  readonly add: (sum: EgressSummary) => void
  /** Null if there was nothing. */
  readonly summary: () => EgressSummary | null
}

type Counted = {
  -readonly [Key in keyof ReachedHost]: ReachedHost[Key] extends readonly string[] ? Set<string> : ReachedHost[Key]
}

/** Limits: with a wildcard grant the tool decides how many hosts it asks for. */
const MOST_HOSTS = 100
const MOST_COUNTED = 10_000

const NO_SUMS = { connections: 0, requests: 0, bytes_sent: 0, bytes_received: 0 }

const addTo = (into: typeof NO_SUMS, sums: Readonly<typeof NO_SUMS>): void => {
  into.connections += sums.connections
  into.requests += sums.requests
  into.bytes_sent += sums.bytes_sent
  into.bytes_received += sums.bytes_received
}

export const createEgressTally = (): EgressTally => {
  const hosts = new Map<string, Counted>()
  const total = { ...NO_SUMS }
  const beyond = new Set<string>()
  let more = 0
  let isEmpty = true

  const hostOf = ({ host, port }: ReachedHost): Counted | undefined => {
    const key = `${host} ${port}`
    const known = hosts.get(key)
    if (known !== undefined) return known
    if (hosts.size >= MOST_HOSTS) {
      if (beyond.size < MOST_COUNTED) beyond.add(key)
      return undefined
    }
    const made: Counted = { host, port, ...NO_SUMS, credentials: new Set(), redactions: 0, problems: new Set() }
    hosts.set(key, made)
    return made
  }
  const addHost = (reached: ReachedHost): void => {
    const counted = hostOf(reached)
    if (counted === undefined) return
    addTo(counted, reached)
    counted.redactions += reached.redactions
    for (const id of reached.credentials) counted.credentials.add(id)
    for (const problem of reached.problems) counted.problems.add(problem)
  }

  return {
    take: (event) => {
      isEmpty = false
      const reached = reachedBy(event)
      addTo(total, reached)
      addHost(reached)
    },
    add: ({ hosts: known, more_hosts, ...sums }) => {
      isEmpty = false
      more += more_hosts
      addTo(total, sums)
      known.forEach(addHost)
    },
    summary: () =>
      isEmpty
        ? null
        : {
            ...total,
            hosts: [...hosts.values()].map((each) => ({
              ...each,
              credentials: [...each.credentials],
              problems: [...each.problems],
            })),
            more_hosts: beyond.size + more,
          },
  }
}

const reachedBy = (event: ConnectionEvent): ReachedHost => {
  const { host, port } = event
  const opened = { host, port, ...NO_SUMS, credentials: [], redactions: 0, problems: [] }
  if (event.type === 'egress.opened') return { ...opened, connections: 1 }
  const { bytes_sent, bytes_received, problem } = event
  const closed = { ...opened, bytes_sent, bytes_received, problems: problem === null ? [] : [problem] }
  if (event.type === 'egress.closed') return closed
  return { ...closed, requests: 1, redactions: event.redactions, credentials: event.credentials }
}
