import type { ConnectionEvent } from '../../egress/index.js'

import type { EgressSummary, ReachedHost } from './event.js'

export interface EgressTally {
  readonly take: (event: ConnectionEvent) => void
  /** What was added up before. */
  readonly add: (sum: EgressSummary) => void
  /** Null where there was nothing. */
  readonly summary: () => EgressSummary | null
}

type Counted = {
  -readonly [Key in keyof ReachedHost]: ReachedHost[Key] extends readonly string[] ? Set<string> : ReachedHost[Key]
}

/** A tool decides how many hosts it asks for below a name that is granted with all of them. */
const MOST_HOSTS = 100
const MOST_COUNTED = 10_000

type Sums = Pick<EgressSummary, 'connections' | 'requests' | 'bytes_sent' | 'bytes_received'>

const addTo = (
  into: { -readonly [Key in keyof Sums]: number },
  { connections, requests, bytes_sent, bytes_received }: Sums,
): void => {
  into.connections += connections
  into.requests += requests
  into.bytes_sent += bytes_sent
  into.bytes_received += bytes_received
}

/** Adds up what became of the connections of one call. */
export const createEgressTally = (): EgressTally => {
  const hosts = new Map<string, Counted>()
  const total = { connections: 0, requests: 0, bytes_sent: 0, bytes_received: 0 }
  const beyond = new Set<string>()
  let more = 0
  let isEmpty = true

  const hostOf = ({ host, port }: Pick<ConnectionEvent, 'host' | 'port'>): Counted | undefined => {
    const key = `${host} ${port}`
    const known = hosts.get(key)
    if (known !== undefined) return known
    if (hosts.size >= MOST_HOSTS) {
      if (beyond.size < MOST_COUNTED) beyond.add(key)
      return undefined
    }
    const made: Counted = {
      host,
      port,
      connections: 0,
      requests: 0,
      bytes_sent: 0,
      bytes_received: 0,
      credentials: new Set(),
      redactions: 0,
      problems: new Set(),
    }
    hosts.set(key, made)
    return made
  }

  return {
    take: (event) => {
      isEmpty = false
      const counted = hostOf(event)
      for (const each of counted === undefined ? [total] : [total, counted]) {
        if (event.type === 'egress.opened') {
          each.connections += 1
          continue
        }
        if (event.type === 'egress.request') each.requests += 1
        each.bytes_sent += event.bytes_sent
        each.bytes_received += event.bytes_received
      }
      if (counted === undefined || event.type === 'egress.opened') return
      if (event.problem !== null) counted.problems.add(event.problem)
      if (event.type === 'egress.closed') return
      counted.redactions += event.redactions
      for (const id of event.credentials) counted.credentials.add(id)
    },
    add: ({ hosts: known, more_hosts, ...sums }) => {
      isEmpty = false
      more += more_hosts
      addTo(total, sums)
      for (const each of known) {
        const counted = hostOf(each)
        if (counted === undefined) continue
        addTo(counted, each)
        counted.redactions += each.redactions
        for (const id of each.credentials) counted.credentials.add(id)
        for (const problem of each.problems) counted.problems.add(problem)
      }
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
