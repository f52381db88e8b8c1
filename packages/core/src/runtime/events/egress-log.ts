// Records the network of one call: event by event up to a limit, because the tool decides how many there are, and the
// rest as a sum.
import type { ConnectionEvent } from '../../egress/index.js'

import { createEgressTally } from './egress-tally.js'
import type { EgressSummary } from './event.js'
import type { EventStream } from './event-stream.js'
import type { CallIds } from './process-ending.js'

export interface EgressLog {
  /** Resolves when the event is in the log, or when the log says that further events are summed up. */
  readonly record: (event: ConnectionEvent) => Promise<void>
  /** Records the sum of the events beyond the limit. */
  readonly finish: () => Promise<void>
  /** The sum of all events. */
  readonly summary: () => EgressSummary | null
}

/** About 6 MB: more than the installation of a thousand packages needs. */
const MOST_ENTRIES = 10_000

/** Thousands of connections may end at once, with the tool. Events beyond these wait, so that other calls go on. */
const MOST_PER_TURN = 8

export const createEgressLog = (events: EventStream, ids: CallIds, most: number = MOST_ENTRIES): EgressLog => {
  const [all, unlisted] = [createEgressTally(), createEgressTally()]
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
    },
    finish: async () => {
      if (announced === undefined) return
      await announced
      await tell(unlisted.summary())
    },
    summary: all.summary,
  }
}
