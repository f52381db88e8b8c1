export { CordonError } from './cordon-error.js'
export { bug, fail } from './fail.js'
export { ERRORS } from './table.js'
export type { ErrorCode, ErrorParams } from './table.js'
