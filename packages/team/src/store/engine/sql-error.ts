// Errors of the database as errors of Cordon.
import { CordonError } from 'cordon/errors'

import { fail } from '../../errors/errors.js'
import { TOO_LARGE, UNREADABLE } from './answer-guard.js'

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** An error of the database as one of Cordon. The functions of sql/ raise 42501, P0002, 22023 and 53400. */
export const storeError = (error: unknown, where: string): unknown => {
  if (error instanceof CordonError || !(error instanceof Error)) return error
  const { code, hint } = error as Error & { readonly code?: unknown; readonly hint?: unknown }
  const problem = error.message
  if (isUnprepared(code, problem)) return fail('store-not-prepared', { where, problem }, error)
  switch (code) {
    case '42501':
      return storeRefused(problem, stringOf(hint), error)
    case 'P0002':
      return storeMissing(problem, stringOf(hint), error)
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

// The fix for an error of the database. A hint of sql/ wins, because it knows the names. The fixes here are for errors
// of PostgreSQL itself, and for unknown names.
type WaysOut = readonly (readonly [RegExp, string])[]

const REFUSED: WaysOut = [
  [
    /^permission denied to set role "service_role"/,
    'grant service_role to the login of the server (docs/serve.md); or use the login of the owner of the ' +
      'database: --database URL',
  ],
  [
    /^permission denied to set role "(?<role>\w+)"/,
    'grant {role} to LOGIN (docs/serve.md lists the roles that a server needs)',
  ],
  [
    /^permission denied for function fn_(?:heartbeat|claim|complete|append_output|resolve|recover|has_queue|task_of)/,
    'let the login run calls: grant cordon_runner to LOGIN (see docs/store.md)',
  ],
  [
    /^permission denied for function fn_(?:invoke|note_refusal)/,
    'let the login ask for calls: grant cordon_agent to LOGIN (see docs/store.md)',
  ],
  [
    /^permission denied for function fn_(?:approve|reject|decide)/,
    'let the login approve calls: grant cordon_operator to LOGIN (see docs/store.md)',
  ],
  [
    /^permission denied for/,
    'give the login a role of Cordon: grant cordon_admin (or cordon_operator, cordon_agent, cordon_runner) to ' +
      'LOGIN (see docs/store.md)',
  ],
  [/^permission denied/, 'use a login with that right, such as the owner of the database'],
  [
    /^/,
    'cordon team show lists members and kinds; an admin changes them: cordon team add NAME operator (or admin, ' +
      'agent, runner), cordon team tools assign TOOL AGENT',
  ],
]

const MISSING: WaysOut = [
  [/\btool\b/, 'see: cordon team tools list; an admin registers others: cordon team tools register FILE'],
  [/\binvocation\b/, 'see: cordon team calls list'],
  [/\brun\b/, 'see: cordon team runs list'],
  [/\bstanding approval\b/, 'see: cordon approvals list --standing'],
  [/^nothing is asked\b/, 'open questions: cordon approvals list; decided ones: cordon why CALL'],
  [/\btoken\b/, 'see: cordon team tokens list'],
  [/\bcredential\b/, 'see: cordon team credentials list'],
  [/\bprofile\b/, 'see: cordon team show; an admin creates one: cordon team profile NAME --allow TOOL'],
  [/\bbudget\b/, 'see: cordon team show'],
  [/\bassignment\b/, 'see: cordon team tools list'],
  [
    /^/,
    'see: cordon team tools list, cordon team show, cordon approvals list; an admin adds members: cordon team add ' +
      'NAME agent',
  ],
]

const wayOut = (ways: WaysOut, problem: string, hint: string): string => {
  if (hint !== '') return hint
  const [found] = ways.flatMap(([pattern, text]) => {
    const match = pattern.exec(problem)
    return match === null ? [] : [text.replace('{role}', match.groups?.['role'] ?? '')]
  })
  return found ?? ''
}

export const storeRefused = (problem: string, hint: string, cause?: unknown): CordonError =>
  fail('store-refused', { problem, fix: wayOut(REFUSED, problem, hint) }, cause)

export const storeMissing = (problem: string, hint = '', cause?: unknown): CordonError =>
  fail('store-missing', { problem, fix: wayOut(MISSING, problem, hint) }, cause)
