// Errors of the database as errors of Cordon.
import { CordonError } from 'cordon/errors'

import { fail } from '../../errors/errors.js'
import { TOO_LARGE, UNREADABLE } from './answer-guard.js'
import { missing, refused } from './ways-out.js'

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** An error of the database as one of Cordon. The functions of sql/ raise 42501, P0002, 22023 and 53400. */
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
    // No disk space, or no quota: of a server, or of an embedded database.
    case '53100':
    case 'ENOSPC':
    case 'EDQUOT':
      return fail('store-full', { where, problem }, error)
    case '53400':
      return fail('questions-too-many', { problem, fix: stringOf(hint) }, error)
    case TOO_LARGE:
      return fail('store-answer-too-large', { problem }, error)
    // Cancelled, no lock, conflict, deadlock, idle within a transaction.
    case '57014':
    case '55P03':
    case '40001':
    case '40P01':
    case '25P03':
      return fail('store-busy', { problem }, error)
    default:
      // Data that a column or a constraint refuses, in the words of the database.
      if (typeof code === 'string' && /^2[23]/.test(code))
        return fail('store-state', { problem, hint: stringOf(hint) }, error)
      return isConnection(code) || isBroken(problem) ? fail('store-unavailable', { where, problem }, error) : error
  }
}

/** A schema, table, function or role of this version is missing. */
const isUnprepared = (code: unknown, problem: string): boolean =>
  (['3F000', '42P01', '42883', '42703'].some((each) => each === code) && /\bagents\b/.test(problem)) ||
  /^role "(?:cordon_\w+|service_role)" does not exist$/.test(problem)

/**
 * Classes 08 (connection), 28 and 3D (login, password or database), 57P (the server ends), 53 and 58 (its resources).
 * Errors of the system come from the socket.
 */
const isConnection = (code: unknown): boolean =>
  typeof code === 'string' && (code === UNREADABLE || /^(08|57P|53|58|3D000|28)/.test(code) || /^E[A-Z]+$/.test(code))

/** Errors of the driver without a code. */
const isBroken = (problem: string): boolean =>
  /^(Connection terminated|received invalid response|Received unexpected |Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error)/.test(
    problem,
  )
