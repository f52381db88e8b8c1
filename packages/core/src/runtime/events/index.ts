// Events without the rest of the runtime.
export { evaluatedEvent, deniedEvent } from './call-record.js'
export type { PolicyChange } from './call-record.js'
export { createEgressTally } from './egress-tally.js'
export type { EgressSummary, ReachedHost } from './event.js'
export { processEndingOf } from './process-ending.js'
export { recordArguments } from './recorded-arguments.js'
export type { RecordSettings } from './recorded-arguments.js'
