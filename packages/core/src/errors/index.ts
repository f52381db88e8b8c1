/// <reference types="node" preserve="true" />
export { CordonError } from './cordon-error.js'
export { bug, fail, failFrom } from './fail.js'
export type { ErrorTable, Fail } from './fail.js'
export type { ErrorText } from './error-text.js'
export { IMPORT_ADVICE, WASI_ADVICE } from './runtime-errors.js'
export { codeOf, messageOf, reasonOf } from './reason-of.js'
export { ERRORS } from './table.js'
export type { ErrorCode } from './table.js'
