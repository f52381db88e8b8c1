// The fix for an error of the database. A hint of sql/ wins, because it knows the names. The fixes here are for errors
// of PostgreSQL itself, and for unknown names.
import type { CordonError } from 'cordon/errors'

import { fail } from '../../errors/errors.js'

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

export const refused = (problem: string, hint: string, cause?: unknown): CordonError =>
  fail('store-refused', { problem, fix: wayOut(REFUSED, problem, hint) }, cause)

export const missing = (problem: string, hint = '', cause?: unknown): CordonError =>
  fail('store-missing', { problem, fix: wayOut(MISSING, problem, hint) }, cause)
