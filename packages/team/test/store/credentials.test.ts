// Credentials in the store of a team: the database cannot read them, and gives them to a runner that needs them now.
import { describe, expect, test } from 'vitest'

import { newSealingKey, openCredential, parseSealingKey, sealCredential } from '../../src/store/index.js'

import { MISSING, REFUSED, describeRegistry } from './describe-registry.js'
import { perform } from './perform.js'
import { actorOf } from './registry.js'

const VALUE = Buffer.from('value-of-a-credential-1f2e3d')
const key = parseSealingKey(newSealingKey(), 'the test')

describe('a sealed credential', () => {
  test('opens with its key, for its team and by its name', () => {
    const { sealed } = sealCredential(key, 'team', 'token', VALUE)
    expect(openCredential(key, 'team', 'token', sealed)).toEqual(VALUE)
    expect(Buffer.from(sealed, 'base64url').includes(VALUE)).toBe(false)
  })

  test('does not open with another key, as another credential, or if it was changed', () => {
    const { sealed } = sealCredential(key, 'team', 'token', VALUE)
    const bytes = Buffer.from(sealed, 'base64url')
    bytes[20] = (bytes[20] ?? 0) ^ 1
    const attempts: readonly (() => Buffer)[] = [
      () => openCredential(parseSealingKey(newSealingKey(), 'the test'), 'team', 'token', sealed),
      () => openCredential(key, 'other', 'token', sealed),
      () => openCredential(key, 'team', 'other', sealed),
      () => openCredential(key, 'team', 'token', bytes.toString('base64url')),
      () => openCredential(key, 'team', 'token', sealed.slice(0, 10)),
    ]
    for (const attempt of attempts) expect(attempt).toThrow(expect.objectContaining({ code: 'sealing-key-invalid' }))
    for (const text of ['', 'short', `${newSealingKey()}=`])
      expect(() => parseSealingKey(text, 'the test')).toThrow(expect.objectContaining({ code: 'sealing-key-invalid' }))
  })
})

describeRegistry('credentials', (stage) => {
  const { claim, complete, fresh } = stage
  const store = (
    who: { readonly query: (sql: string, values: readonly unknown[]) => Promise<unknown> },
    owner: string,
    ref: string,
  ) => {
    const { sealed, keyId } = sealCredential(key, owner, ref, VALUE)
    return who.query('select agents.fn_store_credential($1, $2, $3, $4)', [owner, ref, sealed, keyId])
  }

  test('are stored by an admin, and resolved by a runner while it runs a call that needs them', async () => {
    const registry = await fresh()
    await store(registry.admin, registry.owner, 'token')
    const resolve = () =>
      registry.runner.value<string>('select agents.fn_resolve_credential($1, $2)', [registry.owner, 'token'])
    const tool = await registry.register('fetch', {
      p_egress_class: 'read_only',
      p_requires_approval: false,
      p_credential_ref: 'token',
    })
    const plain = await registry.register('plain', { p_egress_class: 'read_only', p_requires_approval: false })
    await expect(resolve()).rejects.toMatchObject(REFUSED)
    await claim(registry, await registry.invoke(plain))
    await expect(resolve()).rejects.toMatchObject(REFUSED)
    const id = await registry.invoke(tool)
    await expect(resolve()).rejects.toMatchObject(REFUSED)
    const claimed = await claim(registry, id)
    expect(openCredential(key, registry.owner, 'token', await resolve())).toEqual(VALUE)
    const { events } = await perform(registry.admin, 'explainInvocation', { id })
    expect(events.map(({ type }) => type)).toContain('credential.resolved')
    await complete(registry, id, claimed?.fence)
    await expect(resolve()).rejects.toMatchObject(REFUSED)
  })

  test('are refused to agents, operators and other teams, and nobody reads the column', async () => {
    const [registry, other] = [await fresh(), await fresh()]
    await store(registry.admin, registry.owner, 'token')
    await expect(store(registry.anna, registry.owner, 'mine')).rejects.toMatchObject(REFUSED)
    for (const actor of [registry.agent, registry.anna, registry.admin])
      await expect(
        actor.query('select agents.fn_resolve_credential($1, $2)', [registry.owner, 'token']),
      ).rejects.toMatchObject(REFUSED)
    await expect(registry.admin.query('select sealed from agents.credentials')).rejects.toMatchObject(REFUSED)
    expect(await registry.anna.query('select ref from agents.credentials where owner = $1', [registry.owner])).toEqual([
      { ref: 'token' },
    ])
    await expect(
      other.runner.query('select agents.fn_resolve_credential($1, $2)', [registry.owner, 'token']),
    ).rejects.toMatchObject(REFUSED)
    expect(
      await actorOf(stage.engine, 'cordon_operator', 'stranger').query('select ref from agents.credentials'),
    ).toEqual([])
    expect(
      await registry.service.value<string>('select agents.fn_resolve_credential($1, $2)', [registry.owner, 'token']),
    ).toBeTruthy()
    await expect(
      registry.service.query('select agents.fn_resolve_credential($1, $2)', [registry.owner, 'none']),
    ).rejects.toMatchObject(MISSING)
  })

  test('leave a record of who stored, used and removed them, without the value', async () => {
    const registry = await fresh()
    await store(registry.admin, registry.owner, 'token')
    await registry.service.query('select agents.fn_resolve_credential($1, $2)', [registry.owner, 'token'])
    await registry.admin.query('select agents.fn_remove_credential($1, $2)', [registry.owner, 'token'])
    const record = await stage.engine.query<{ type: string; actor: string; line: string }>(
      `select type, actor, line from agents.audit_events where owner = $1 and subject = 'credential:token' ` +
        'order by sequence',
      [registry.owner],
    )
    expect(record.map(({ type, actor }) => [type, actor])).toEqual([
      ['credential.stored', 'ada'],
      ['credential.resolved', 'founder'],
      ['credential.removed', 'ada'],
    ])
    expect(JSON.stringify(record)).not.toContain(VALUE.toString())
  })
})
