// Events without the rest of the runtime.
export { createEgressTally } from './egress-tally.js'
export type { EgressSummary, EgressTally, ReachedHost } from './egress-tally.js'
export type { CordonEvent, EventDraft } from './event.js'
export { createEventStream } from './event-stream.js'
export type { EventStream } from './event-stream.js'
export { processEnded, processEndingOf } from './process-ending.js'
export { recordArguments } from './recorded-arguments.js'
