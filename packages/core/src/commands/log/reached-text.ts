// The network part of `cordon why`: reached hosts, problems and refusals.
import type { EgressSummary, ReachedHost } from '../../runtime/events/index.js'
import type { CordonEvent } from '../../runtime/index.js'
import { describeViolation } from '../../sandbox/index.js'
import type { Violation } from '../../sandbox/index.js'

import { counted } from '../../line/text/console-text.js'
import { wayOut } from '../../run/text/explain.js'
import { upstreamProblems } from '../../run/text/upstream-problems.js'
import { egressIn } from '../../records/index.js'
import { trafficOf } from './log-text.js'

type Line = readonly [string, string]

const MOST_LINES = 20

export const networkLines = (events: readonly CordonEvent[]): readonly Line[] => {
  const summary = egressIn(events)
  return [
    ...atMost('reached', reached(summary)),
    ...atMost('problem', upstreamProblems(summary)),
    ...atMost('refused', refused(events)),
  ]
}

const reached = (summary: EgressSummary | null): readonly string[] => {
  if (summary === null) return []
  const rest = summary.more_hosts === 0 ? [] : [`and ${counted(summary.more_hosts, 'other host')}`]
  return [...summary.hosts.map(hostText), ...rest]
}

const hostText = (reached: ReachedHost): string => {
  const { host, port, connections, requests, credentials, redactions, problems } = reached
  const amounts = [counted(connections, 'connection'), counted(requests, 'request'), trafficOf(reached)]
  return [
    `${host}:${String(port)}: ${amounts.join(', ')}`,
    ...(credentials.length === 0 ? [] : [`with ${credentials.join(', ')}`]),
    ...(redactions === 0 ? [] : [`${String(redactions)} redacted`]),
    ...problems,
  ].join('; ')
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
