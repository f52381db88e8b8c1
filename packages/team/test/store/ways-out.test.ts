// Errors of PostgreSQL itself, and missing objects, come with the right fix.
import { expect, test } from 'vitest'

import { CordonError } from 'cordon/errors'
import { storeError } from '../../src/store/engine/sql-error.js'

const wayOutOf = (code: string, message: string, more: { readonly hint?: string } = {}): string => {
  const error = storeError(Object.assign(new Error(message), { code, ...more }), 'here')
  return error instanceof CordonError ? `${error.code}: ${error.fix ?? ''}` : expect.fail(String(error))
}

test.each([
  ['42501', 'permission denied to set role "service_role"', /^store-refused: .*grant service_role/],
  ['42501', 'permission denied to set role "cordon_runner"', /^store-refused: .*grant cordon_runner to LOGIN/],
  ['42501', 'permission denied for function fn_heartbeat', /^store-refused: .*grant cordon_runner to LOGIN/],
  ['42501', 'permission denied for function fn_has_queue', /^store-refused: .*grant cordon_runner to LOGIN/],
  ['42501', 'permission denied for function fn_invoke_tool', /^store-refused: .*grant cordon_agent to LOGIN/],
  [
    '42501',
    'permission denied for function fn_reject_tool_invocation',
    /^store-refused: .*grant cordon_operator to LOGIN/,
  ],
  ['42501', 'permission denied for schema agents', /^store-refused: .*grant cordon_admin/],
  ['42501', 'permission denied to create role', /^store-refused: .*owner of the database/],
  ['42501', 'ada is not allowed to', /^store-refused: .*cordon team show/],
  ['P0002', 'there is no tool x', /^store-missing: see: cordon team tools list/],
  ['P0002', 'there is no invocation x', /^store-missing: see: cordon team calls list/],
  ['P0002', 'there is no standing approval x', /^store-missing: see: cordon approvals list --standing/],
  ['P0002', 'there is no token x', /^store-missing: see: cordon team tokens list/],
  ['P0002', 'there is no profile x of acme', /^store-missing: see: cordon team show/],
  ['3F000', 'schema "agents" does not exist', /^store-not-prepared: .*cordon runner --prepare/],
  ['42P01', 'relation "agents.members" does not exist', /^store-not-prepared: /],
  ['22023', 'role "cordon_runner" does not exist', /^store-not-prepared: /],
])('%s %s', (code, message, wayOut) => {
  expect(wayOutOf(code, message)).toMatch(wayOut)
})

test('a hint of sql/ itself is used', () => {
  for (const [code, is] of [
    ['42501', 'store-refused'],
    ['P0002', 'store-missing'],
    ['22023', 'store-state'],
  ] as const)
    expect(wayOutOf(code, 'no tool', { hint: 'do this' })).toBe(`${is}: do this`)
})
