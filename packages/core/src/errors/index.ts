/// <reference types="node" preserve="true" />
export { CordonError, codeOf, messageOf, reasonOf } from './cordon-error.js'
export type { ErrorText } from './cordon-error.js'
export { bug, fail, failFrom } from './fail.js'
export type { ErrorTable, Fail } from './fail.js'
export { IMPORT_ADVICE, WASI_ADVICE } from './runtime-errors.js'
export { ERRORS } from './table.js'
export type { ErrorCode } from './table.js'
