// What to do about a refusal of the database. Where sql/ says it (a hint), that counts: it knows the names. What is
// here is for what PostgreSQL refuses by itself, and for names that are not there.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

type WaysOut = readonly (readonly [RegExp, string])[]

const REFUSED: WaysOut = [
  [
    /^permission denied to set role "service_role"/,
    'only a login that has it may: grant service_role to the login of the server (docs/serve.md); or use ' +
      'that of the owner of the database: --database URL',
  ],
  [
    /^permission denied to set role "(?<role>\w+)"/,
    'let the login that speaks for others have it: grant {role} to LOGIN (docs/serve.md says which roles a ' +
      'server needs)',
  ],
  [
    /^permission denied for function fn_(?:heartbeat|claim|complete|append_output|resolve|recover|has_queue|task_of)/,
    'let the login run calls: grant cordon_runner to LOGIN (docs/store.md says which role may call what)',
  ],
  [
    /^permission denied for function fn_(?:invoke|note_refusal)/,
    'let the login ask for calls: grant cordon_agent to LOGIN (docs/store.md says which role may call what)',
  ],
  [
    /^permission denied for function fn_(?:approve|reject|decide)/,
    'let the login decide: grant cordon_operator to LOGIN (docs/store.md says which role may call what)',
  ],
  [
    /^permission denied for/,
    'let the login have a role of Cordon: grant cordon_admin (or cordon_operator, cordon_agent, ' +
      'cordon_runner) to LOGIN; docs/store.md says which may do what',
  ],
  [/^permission denied/, 'use a login that may, such as that of the owner of the database'],
  [
    /^/,
    'cordon team show says who is what; an admin changes it: cordon team add NAME operator (or admin, agent, ' +
      'runner), cordon tools assign TOOL AGENT',
  ],
]

const MISSING: WaysOut = [
  [/\btool\b/, 'cordon tools list has those that there are; an admin registers others: cordon tools register FILE'],
  [/\binvocation\b/, 'cordon calls list has those that you may see'],
  [/\brun\b/, 'cordon runs list has those that you may see'],
  [/\bstanding approval\b/, 'cordon approvals list --standing has those that count'],
  [/^nothing is asked\b/, 'cordon approvals list has what is asked now; of what is decided: cordon why CALL'],
  [/\btoken\b/, 'cordon tokens list has those that you may see'],
  [/\bcredential\b/, 'cordon credentials list has those that are kept'],
  [
    /\bprofile\b/,
    'cordon team show has those that there are; an admin makes one: cordon team profile NAME --allow TOOL',
  ],
  [/\bbudget\b/, 'cordon team show has those that there are'],
  [/\bassignment\b/, 'cordon tools list says who may call what'],
  [
    /^/,
    'see what there is: cordon tools list, cordon team show, cordon approvals list; an admin adds members: ' +
      'cordon team add NAME agent',
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
