// Errors as problem details (RFC 9457). `code` and `params` come from the table of errors, so that a client of Cordon
// can raise the same error.
import { CordonError } from 'cordon/errors'
import { withoutUndefined } from 'cordon/shapes'

import { fail } from '../errors/errors.js'

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly fix?: string
  readonly params: Readonly<Record<string, string | number>>
}

const STATUS: Readonly<Record<string, number>> = {
  'request-invalid': 400,
  'request-unauthenticated': 401,
  'request-refused': 403,
  'store-refused': 403,
  'route-missing': 404,
  'store-missing': 404,
  'store-state': 409,
  'questions-too-many': 409,
  'request-too-large': 413,
  'request-too-many': 429,
  'store-answer-too-large': 500,
  'store-busy': 503,
  'store-unavailable': 503,
  'store-full': 503,
}
export const UNEXPECTED = 500

/** The codes of each status. All other errors are unexpected. */
export const CODES_BY_STATUS: ReadonlyMap<number, readonly string[]> = new Map(
  [...new Set([...Object.values(STATUS), UNEXPECTED])]
    .sort((one, other) => one - other)
    .map((status) => [
      status,
      [
        ...Object.entries(STATUS)
          .filter(([, each]) => each === status)
          .map(([code]) => code),
        ...(status === UNEXPECTED ? ['unexpected'] : []),
      ],
    ]),
)

export const invalid = (problem: string): CordonError =>
  fail('request-invalid', { problem, fix: 'GET /openapi.json says what each request takes' })

/** Seconds after which a client may retry, by status. */
export const RETRY_AFTER: Readonly<Record<number, string>> = { 429: '1', 503: '2' }

/** Clients learn that an internal error happened, and nothing else. */
const INTERNAL = {
  code: 'unexpected',
  message: 'something went wrong in the server, which has it in its log',
  fix: undefined,
  params: {},
}

/** Details about the database go only to the log, because unauthenticated clients see this answer too. */
const AWAY = fail('store-unavailable', { where: 'this server', problem: 'its database does not answer' })

const FULL = fail('store-full', { where: 'this server', problem: 'it cannot be written to' })

const shownOf = (error: unknown): Pick<CordonError, 'code' | 'message' | 'fix' | 'params'> => {
  if (!(error instanceof CordonError)) return INTERNAL
  return error.code === 'store-unavailable' ? AWAY : error.code === 'store-full' ? FULL : error
}

export const problemOf = (error: unknown): Problem => {
  const { code, message, fix, params } = shownOf(error)
  return {
    type: `urn:cordon:error:${code}`,
    title: code,
    status: STATUS[code] ?? UNEXPECTED,
    detail: message,
    code,
    ...withoutUndefined({ fix }),
    params,
  }
}
