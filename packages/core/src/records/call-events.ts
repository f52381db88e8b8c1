// Events of the audit log: those of one call, and those that a filter lets pass.
import { createEgressTally } from '../runtime/events/index.js'
import type { EgressSummary } from '../runtime/events/index.js'
import { createLogReader, readLine } from '../runtime/index.js'
import type { CordonEvent } from '../runtime/index.js'

/**
 * `wanted`: the start of an id, or "last". Calls that run at the same time have their events among each other, so
 * "last" is looked up first.
 */
export const callEvents = async (path: string, wanted: string): Promise<readonly CordonEvent[]> => {
  const start = wanted === 'last' ? await lastCallIn(path) : wanted
  const found: CordonEvent[] = []
  if (start === undefined) return found
  for await (const event of callEventsIn(path)) {
    if (!event.call_id.startsWith(start)) continue
    // The start of several ids means the first.
    if (found[0] === undefined || found[0].call_id === event.call_id) found.push(event)
  }
  return found
}

/** The id of the call with the last event. */
const lastCallIn = async (path: string): Promise<string | undefined> => {
  let last: string | undefined
  for await (const { call_id: id } of callEventsIn(path)) last = id
  return last
}

type CallEvent = CordonEvent & { readonly call_id: string }

async function* callEventsIn(path: string): AsyncGenerator<CallEvent> {
  const reader = createLogReader(path)
  try {
    for await (const { text } of reader.lines()) {
      const read = readLine(text)
      if (read.kind === 'unreadable') continue
      const { event } = read.line
      if (isOfCall(event)) yield event
    }
  } finally {
    await reader.close()
  }
}

const isOfCall = (event: CordonEvent): event is CallEvent => typeof event.call_id === 'string'

export type DeniedEvent = Extract<CallEvent, { type: 'tool.denied' }>

/**
 * The calls that were denied while a cell ran. The cell of an MCP server counts as a call too, and ends after the calls
 * of its tools. So the last call of a log is often that cell, while the user asks about a denied call. `cell`: its
 * events.
 */
export const deniedMeanwhile = async (path: string, cell: readonly CordonEvent[]): Promise<readonly DeniedEvent[]> => {
  const [first, last] = [cell[0]?.event_id, cell.at(-1)?.event_id]
  const found: DeniedEvent[] = []
  let isMeanwhile = false
  for await (const event of callEventsIn(path)) {
    isMeanwhile ||= event.event_id === first
    if (isMeanwhile && event.type === 'tool.denied' && event.call_id !== cell[0]?.call_id) found.push(event)
    if (event.event_id === last) break
  }
  return found
}

/** The hosts that a call reached. Null if none. */
export const egressIn = (events: readonly CordonEvent[]): EgressSummary | null => {
  const tally = createEgressTally()
  for (const event of events) {
    if (event.type === 'egress.opened' || event.type === 'egress.request' || event.type === 'egress.closed')
      tally.take({ ...event, call_id: event.call_id ?? '' })
    else if (event.type === 'egress.summed' && event.sum !== null) tally.add(event.sum)
  }
  return tally.summary()
}

interface Sought {
  /** The start of an id. */
  readonly call: string | undefined
  /** Empty: every type. */
  readonly types: readonly string[]
  /** In milliseconds since 1970. */
  readonly from: number | undefined
  readonly host: string | undefined
}

export type EventFilter = (event: CordonEvent) => boolean

export const eventFilter =
  ({ call, types, from, host }: Sought): EventFilter =>
  (event) =>
    (call === undefined || event.call_id?.startsWith(call) === true) &&
    (types.length === 0 || types.includes(event.type)) &&
    (from === undefined || Date.parse(event.timestamp) >= from) &&
    (host === undefined || hostIn(event)?.toLowerCase() === host.toLowerCase())

/** The host that an event is about. */
const hostIn = (event: CordonEvent): string | undefined => {
  if ('host' in event) return event.host
  const violation = event.type === 'sandbox.violation' ? event.violation : undefined
  switch (violation?.kind) {
    case 'lookup':
      return violation.name
    case 'egress':
      return violation.host
    case 'connect':
      return 'name' in violation ? violation.name : 'address' in violation ? violation.address : undefined
    default:
      return undefined
  }
}

/**
 * A command that removes or renews installed packages is refused hundreds of files. Of the refused files in a package
 * only the first, with the number of the others.
 */
export const onePerPackage = (events: readonly CordonEvent[]): readonly CordonEvent[] => {
  const counts = new Map<string, number>()
  for (const event of events) {
    const name = packageOf(event)
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return events.flatMap((event) => {
    const name = packageOf(event)
    if (name === undefined || event.type !== 'sandbox.violation') return [event]
    const count = counts.get(name)
    if (count === undefined) return []
    counts.delete(name)
    return count === 1
      ? [event]
      : [{ ...event, description: `${event.description}, and ${String(count - 1)} more in ${name} (--json has all)` }]
  })
}

const packageOf = (event: CordonEvent): string | undefined =>
  event.type === 'sandbox.violation' && event.violation.kind === 'file'
    ? /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(event.violation.path)?.[0]
    : undefined
