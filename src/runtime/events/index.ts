// Events without the rest of the runtime.
export { called, decided, denied, ended, idsOf, processStarted, recordTogether } from './call-record.js'
export { createEgressTally } from './egress-tally.js'
export type { EgressSummary, EgressTally, ReachedHost } from './egress-tally.js'
export type { CordonEvent, EventDraft } from './event.js'
export { createEventStream } from './event-stream.js'
export type { EventStream } from './event-stream.js'
export { endedBy, processEnded, processEndingOf } from './process-ending.js'
export { recordArguments } from './recorded-arguments.js'
