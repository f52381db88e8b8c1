import { CordonError, fail } from '../../errors/index.js'

import { TOO_LARGE, UNREADABLE } from './answer-guard.js'
import { missing, refused } from './ways-out.js'

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** What the database says, in the words of Cordon. Its states are those of sql/: 42501, P0002, 22023, 53400. */
export const storeError = (error: unknown, where: string): unknown => {
  if (error instanceof CordonError || !(error instanceof Error)) return error
  const { code, hint } = error as Error & { readonly code?: unknown; readonly hint?: unknown }
  const problem = error.message
  if (isUnprepared(code, problem)) return fail('store-not-prepared', { where, problem }, error)
  switch (code) {
    case '42501':
      return refused(problem, stringOf(hint), error)
    case 'P0002':
      return missing(problem, stringOf(hint), error)
    case '22023':
      return fail('store-state', { problem, hint: stringOf(hint) }, error)
    // The disk, or what a user may have of it: of a server, and of the files of an embedded database.
    case '53100':
    case 'ENOSPC':
    case 'EDQUOT':
      return fail('store-full', { where, problem }, error)
    case '53400':
      return fail('questions-too-many', { problem, fix: stringOf(hint) }, error)
    case TOO_LARGE:
      return fail('store-answer-too-large', { problem }, error)
    // Given up, by the clock or by who asked; not had a lock; in the way of another one; idle within a transaction.
    case '57014':
    case '55P03':
    case '40001':
    case '40P01':
    case '25P03':
      return fail('store-busy', { problem }, error)
    default:
      // Data that a column cannot hold or a constraint does not let in, told in the database's own words.
      if (typeof code === 'string' && /^2[23]/.test(code))
        return fail('store-state', { problem, hint: stringOf(hint) }, error)
      return isConnection(code) || isBroken(problem) ? fail('store-unavailable', { where, problem }, error) : error
  }
}

/** A schema, a table, a function or a role that every store of this version has. */
const isUnprepared = (code: unknown, problem: string): boolean =>
  (['3F000', '42P01', '42883', '42703'].some((each) => each === code) && /\bagents\b/.test(problem)) ||
  /^role "(?:cordon_\w+|service_role)" does not exist$/.test(problem)

/**
 * Classes 08 (connection), 28 and 3D (no such login, password or database), 57P (the server ends), 53 and 58 (it has no
 * room, or trouble of its own); errors of the system come from the socket.
 */
const isConnection = (code: unknown): boolean =>
  typeof code === 'string' && (code === UNREADABLE || /^(08|57P|53|58|3D000|28)/.test(code) || /^E[A-Z]+$/.test(code))

/** What the driver says without a code. */
const isBroken = (problem: string): boolean =>
  /^(Connection terminated|received invalid response|Received unexpected |Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error)/.test(
    problem,
  )
