// All operations of the registry, in one table. It routes, checks and describes requests (OpenAPI).
import type { Read, Shapes } from 'cordon/shapes'

import { CALLS } from './calls.js'
import type { Operation, JsonOf } from './operation.js'
import { PEOPLE } from './people.js'
import { RECORD } from './record.js'
import { RUNS } from './runs.js'
import { TOOLS } from './tools.js'

const OPERATIONS = { ...PEOPLE, ...TOOLS, ...CALLS, ...RUNS, ...RECORD } as const

export type OperationName = keyof typeof OPERATIONS

/** The fields of any request, by their names. */
export type RequestFields = Readonly<Record<string, unknown>>
export type RequestOf<Name extends OperationName> = Read<(typeof OPERATIONS)[Name]['fields']>
export type AnswerOf<Name extends OperationName> = JsonOf<Awaited<ReturnType<(typeof OPERATIONS)[Name]['perform']>>>

export type AnyOperation = Operation<Shapes, unknown>
export const operationOf = (name: OperationName): AnyOperation => OPERATIONS[name] as unknown as AnyOperation
export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[]
