// The log without the rest of the runtime: `cordon run` does not load the code that runs functions.
export { auditPlacesOf, openAuditLog } from './audit-log.js'
export type { AuditLog } from './audit-log.js'
export { auditOwnFiles } from './audit-files.js'
