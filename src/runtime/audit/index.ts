// The log without the rest of the runtime: the command line records a call without loading what runs functions.
export { openAuditLog } from './audit-log.js'
export type { AuditLog } from './audit-log.js'
export { auditOwnFiles } from './audit-own-files.js'
