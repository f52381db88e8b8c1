export { openLedger } from './call-ledger.js'
export type { CallLedger, LedgerSettings } from './call-ledger.js'
export { registeredCalls } from './registered-calls.js'
export type { RegisteredCalls } from './registered-calls.js'
