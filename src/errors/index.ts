/// <reference types="node" preserve="true" />
export { CordonError } from './cordon-error.js'
export { bug, fail } from './fail.js'
export { IMPORT_ADVICE, WASI_ADVICE } from './runtime-errors.js'
export { codeOf, messageOf, reasonOf } from './reason-of.js'
export { ERRORS } from './table.js'
export type { ErrorCode, ErrorParams } from './table.js'
