// The types of what happens to a call. event-shapes.ts declares each event, for programs and for people.
import type { Shaped } from '../../shapes/index.js'

import type { BASE, CONTEXT, EGRESS_SUMMARY, EVENTS, REACHED_HOST, RECORDED_ARGUMENTS, USAGE } from './event-shapes.js'
import type { EventType } from './event-types.js'

export type EventContext = Shaped<typeof CONTEXT>
/** Arguments as a record keeps them: which they were can be proven, what they were is not told unless it is wanted. */
export type RecordedArguments = Shaped<typeof RECORDED_ARGUMENTS>
export type ProcessUsage = Shaped<typeof USAGE>
/** What a call reached, in sum. What it was refused is among its violations. */
export type EgressSummary = Shaped<typeof EGRESS_SUMMARY>
export type ReachedHost = Shaped<typeof REACHED_HOST>

export type EventOf<Type extends EventType> = { readonly [Each in Type]: { readonly type: Each } & Shaped<typeof BASE> & Shaped<(typeof EVENTS)[Each]> }[Type]
export type CordonEvent = EventOf<EventType>

/** What the stream adds. */
type Given = 'event_id' | 'timestamp' | 'sequence' | 'session_id'

type DraftOf<Event> = Event extends CordonEvent ? Omit<Event, Given> : never

/** An event before the stream has numbered it. What the log says about itself is not for others to say. */
export type EventDraft = DraftOf<EventOf<Exclude<EventType, 'audit.began' | 'audit.repaired'>>>
