// The network of one call in the log: entry by entry up to a bound, because a tool decides how many there are, and as a
// sum beyond that.
import type { ConnectionEvent } from '../../egress/index.js'

import { createEgressTally } from './egress-tally.js'
import type { EgressSummary } from './event.js'
import type { EventStream } from './event-stream.js'
import type { CallIds } from './process-ending.js'

export interface EgressLog {
  /** Settles when the event is in the log, or the log says that such events are only summed up from here on. */
  readonly record: (event: ConnectionEvent) => Promise<void>
  /** The last entry: what was summed up. */
  readonly finish: () => Promise<void>
  /** Of everything, listed or not. */
  readonly summary: () => EgressSummary | null
}

/** Some six megabytes: more than the installation of a thousand packages needs. */
export const MOST_EGRESS_ENTRIES = 10_000

export const createEgressLog = (events: EventStream, ids: CallIds, most: number = MOST_EGRESS_ENTRIES): EgressLog => {
  const [all, unlisted] = [createEgressTally(), createEgressTally()]
  let listed = 0
  let announced: Promise<unknown> | undefined
  const tell = (sum: EgressSummary | null) => events.emit({ type: 'egress.summed', ...ids, entries: listed, sum })
  return {
    record: async (event) => {
      if (listed < most) {
        listed += 1
        await events.emit({ ...event, ...ids })
      } else {
        // Before anything without an entry is sent, so that the log says so even after a kill.
        await (announced ??= tell(null))
        unlisted.take(event)
      }
      all.take(event)
    },
    finish: async () => {
      if (announced === undefined) return
      await announced
      await tell(unlisted.summary())
    },
    summary: all.summary,
  }
}
