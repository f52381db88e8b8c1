import { CordonError } from '../../errors/index.js'

const AWAY: ReadonlySet<string> = new Set(['store-unavailable', 'store-busy', 'server-unavailable', 'request-too-many'])

/** It was not reached, or had no time for it: what asks again may be answered. */
export const isAway = (error: unknown): boolean => error instanceof CordonError && AWAY.has(error.code)
