// The types of events, from the declarations in event-shapes.ts.
import type { Shaped } from '../../shapes/index.js'

import type { EGRESS_SUMMARY, EventType, REACHED_HOST, RECORDED_ARGUMENTS, USAGE } from './event-parts.js'
import type { BASE, CONTEXT, EVENTS } from './event-shapes.js'

export type EventContext = Shaped<typeof CONTEXT>
/** Arguments as a record keeps them: their hash, and their text only if the host asked for it. */
export type RecordedArguments = Shaped<typeof RECORDED_ARGUMENTS>
export type ProcessUsage = Shaped<typeof USAGE>
/** The connections of a call. Refused ones are among its violations. */
export type EgressSummary = Shaped<typeof EGRESS_SUMMARY>
export type ReachedHost = Shaped<typeof REACHED_HOST>

export type EventOf<Type extends EventType> = {
  readonly [Each in Type]: { readonly type: Each } & Shaped<typeof BASE> & Shaped<(typeof EVENTS)[Each]>
}[Type]
export type CordonEvent = EventOf<EventType>

type DraftOf<Event> = Event extends CordonEvent
  ? Omit<Event, 'event_id' | 'timestamp' | 'sequence' | 'session_id'>
  : never

/** An event before the stream has numbered it. Events of the log itself are written by the log only. */
export type EventDraft = DraftOf<EventOf<Exclude<EventType, 'audit.began' | 'audit.repaired'>>>
