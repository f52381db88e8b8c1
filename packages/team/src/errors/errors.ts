// Errors of the registry, its server and its runners.
import { ERRORS as CORE_ERRORS, failFrom } from 'cordon/errors'
import type { Fail } from 'cordon/errors'

import { SERVER_ERRORS } from './server-errors.js'
import { STORE_ERRORS } from './store-errors.js'

export const ERRORS = { ...STORE_ERRORS, ...SERVER_ERRORS } as const

/** Every code that a client of a server can meet. */
export const ALL_ERRORS = { ...CORE_ERRORS, ...ERRORS } as const

export const fail: Fail<typeof ALL_ERRORS> = failFrom(ALL_ERRORS)
