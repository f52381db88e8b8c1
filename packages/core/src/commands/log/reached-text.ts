// The network part of `cordon why`: reached hosts, problems and refusals.
import { createEgressTally } from '../../runtime/events/index.js'
import type { EgressSummary } from '../../runtime/events/index.js'
import type { CordonEvent } from '../../runtime/index.js'
import { describeViolation } from '../../sandbox/index.js'
import type { Violation } from '../../sandbox/index.js'

import { wayOut } from '../../run/text/explain.js'
import { upstreamProblems } from '../../run/text/upstream-problems.js'
import { counted } from '../../line/text/counted.js'

type Line = readonly [string, string]

const MOST_LINES = 20

export const networkLines = (events: readonly CordonEvent[]): readonly Line[] => {
  const summary = summaryOf(events)
  return [
    ...atMost('reached', reached(summary)),
    ...atMost('problem', upstreamProblems(summary)),
    ...atMost('refused', refused(events)),
  ]
}

const summaryOf = (events: readonly CordonEvent[]): EgressSummary | null => {
  const tally = createEgressTally()
  for (const event of events) {
    if (event.type === 'egress.opened' || event.type === 'egress.request' || event.type === 'egress.closed')
      tally.take({ ...event, call_id: event.call_id ?? '' })
    else if (event.type === 'egress.summed' && event.sum !== null) tally.add(event.sum)
  }
  return tally.summary()
}

const reached = (summary: EgressSummary | null): readonly string[] => {
  if (summary === null) return []
  const rest = summary.more_hosts === 0 ? [] : [`and ${counted(summary.more_hosts, 'other host')}`]
  return [
    ...summary.hosts.map(
      ({
        host,
        port,
        connections,
        requests,
        bytes_sent: sent,
        bytes_received: received,
        credentials,
        redactions,
        problems,
      }) =>
        [
          `${host}:${String(port)}: ${counted(connections, 'connection')}, ${counted(requests, 'request')}, ` +
            `${String(sent)} bytes out, ${String(received)} in`,
          ...(credentials.length === 0 ? [] : [`with ${credentials.join(', ')}`]),
          ...(redactions === 0 ? [] : [`${String(redactions)} redacted`]),
          ...problems,
        ].join('; '),
    ),
    ...rest,
  ]
}

const OF_NETWORK: ReadonlySet<Violation['kind']> = new Set(['connect', 'lookup', 'egress', 'listen'])

/** With the policy line or the option that would allow it. */
const refused = (events: readonly CordonEvent[]): readonly string[] => [
  ...new Set(
    events.flatMap((event) =>
      event.type === 'sandbox.violation' && OF_NETWORK.has(event.violation.kind)
        ? [`${describeViolation(event.violation).replace(/^refused /, '')}${wayOut(event.violation)}`]
        : [],
    ),
  ),
]

const atMost = (name: string, texts: readonly string[]): readonly Line[] =>
  (texts.length > MOST_LINES
    ? [...texts.slice(0, MOST_LINES), `and ${String(texts.length - MOST_LINES)} more; --json has all of them`]
    : texts
  ).map((text) => [name, text])
