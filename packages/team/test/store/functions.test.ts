// Rules for every function of the schema, also for new ones.
import { expect, test } from 'vitest'

import { describeRegistry } from './describe-registry.js'

const ROLES = `array['cordon_admin', 'cordon_operator', 'cordon_agent', 'cordon_runner', 'cordon_gateway', 'service_role']`
const functionsThat = (condition: string): string =>
  `select p.oid::regprocedure::text as name from pg_proc p where p.pronamespace = 'agents'::regnamespace and ` +
  `${condition} order by 1`
const has = (setting: string): string =>
  `exists (select from unnest(p.proconfig) as each(setting) where setting like '${setting}=%')`

describeRegistry('functions', (stage) => {
  test('can be called only by the roles that they are granted to', async () => {
    expect(await stage.engine.query(functionsThat(`has_function_privilege('public', p.oid, 'execute')`))).toEqual([])
  })

  test('mean the same for any search path of the caller', async () => {
    expect(await stage.engine.query(functionsThat(`p.prosqlbody is null and not ${has('search_path')}`))).toEqual([])
  })

  test('never wait forever', async () => {
    const isCalled = `exists (select from unnest(${ROLES}) as role where has_function_privilege(role, p.oid, 'execute'))`
    expect(
      await stage.engine.query(
        functionsThat(`p.prosecdef and p.provolatile = 'v' and ${isCalled} and not ${has('lock_timeout')}`),
      ),
    ).toEqual([])
  })
})
