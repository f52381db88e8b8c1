// Everything that can be asked of a store, in one table: it routes and checks requests, describes them (OpenAPI), and
// is what clients and the command line call.
import { CALLS } from './calls.js'
import { PEOPLE } from './people.js'
import { RECORD } from './record.js'
import { RUNS } from './runs.js'
import { TOOLS } from './tools.js'

import type { Read, Shapes } from '../../shapes/index.js'
import type { Operation, Told } from './operation.js'

export const OPERATIONS = { ...PEOPLE, ...TOOLS, ...CALLS, ...RUNS, ...RECORD } as const

export type OperationName = keyof typeof OPERATIONS

export type GivenTo<Name extends OperationName> = Read<(typeof OPERATIONS)[Name]['fields']>
export type AnswerOf<Name extends OperationName> = Told<Awaited<ReturnType<(typeof OPERATIONS)[Name]['perform']>>>

/** Any of them, where it does not matter which. */
export type AnyOperation = Operation<Shapes, unknown>
export const operationOf = (name: OperationName): AnyOperation => OPERATIONS[name] as unknown as AnyOperation
export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[]
