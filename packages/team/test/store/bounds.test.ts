// All values of callers besides the input of a call are limited, and checked before they are expanded.
import { describe, expect, test } from 'vitest'

import { BAD_STATE, describeRegistry } from './describe-registry.js'
import type { TeamRegistry } from './describe-registry.js'

const FREE = { p_egress_class: 'none', p_requires_approval: false }
/** Some bytes each, and up to 131,072 letters once they are written out. */
const HUGE = ['1e131071', '-1e131071', '1e-16383', '0e-16383', '1e309', '-1.8e308'] as const
const DOUBLES = [
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MIN_VALUE,
  2.2250738585072014e-308,
  -1.2345678901234567e-310,
  Number.EPSILON,
  Number.MAX_SAFE_INTEGER,
  2 ** 63,
  2 ** 64,
  0.1,
  1 / 3,
  -0,
  1e21,
  1e-7,
]
const letters = (megabytes: number) => 'x'.repeat(megabytes * 1024 * 1024)

describeRegistry('limits of values', (stage) => {
  const running = async (registry: TeamRegistry) => {
    const id = await registry.invoke(await registry.register('look', FREE))
    const fence = (await stage.claim(registry, id))?.fence
    return {
      id,
      end: (given: {
        readonly output?: string | null
        readonly error?: string | null
        readonly usage?: string | null
      }) =>
        registry.runner.query('select agents.fn_complete_tool_invocation($1, $2, $3, $4, null, $5, $6)', [
          id,
          'completed',
          given.output ?? null,
          given.error ?? null,
          fence,
          given.usage ?? null,
        ]),
    }
  }

  describe('an output', () => {
    test('with a number that is not a double, or too large, is refused, and the call can still be ended', async () => {
      const registry = await stage.fresh()
      const { id, end } = await running(registry)
      for (const number of HUGE) {
        await expect(end({ output: number }), number).rejects.toMatchObject(BAD_STATE)
        await expect(
          end({ output: `{"deep":[[{"in":[${`${number},`.repeat(3000)}0]}]]}` }),
          number,
        ).rejects.toMatchObject(BAD_STATE)
        await expect(end({ usage: `{"n":${number}}` }), number).rejects.toMatchObject(BAD_STATE)
      }
      // Doubles, of which each is 309 letters.
      await expect(end({ output: `[${'1e308,'.repeat(60_000)}0]` })).rejects.toMatchObject(BAD_STATE)
      await expect(end({ output: JSON.stringify(letters(17)) })).rejects.toMatchObject({
        ...BAD_STATE,
        message: expect.stringContaining('larger than 16 MB') as string,
      })
      await expect(end({ usage: JSON.stringify({ x: letters(2) }) })).rejects.toMatchObject(BAD_STATE)
      await expect(end({ error: letters(2) })).rejects.toMatchObject(BAD_STATE)
      expect(await registry.statusOf(id)).toBe('running')
      await end({
        output: JSON.stringify(letters(15)),
        error: letters(0.5),
        usage: JSON.stringify({ x: letters(0.9) }),
      })
      expect(await registry.statusOf(id)).toBe('completed')
    })

    test('keeps every double unchanged', async () => {
      const registry = await stage.fresh()
      const { id, end } = await running(registry)
      await end({ output: JSON.stringify(DOUBLES) })
      const [row] = await registry.anna.query<{ output: readonly number[] }>(
        'select output from agents.tool_invocations where id = $1',
        [id],
      )
      // JSON.stringify writes -0 as 0.
      expect(row?.output).toEqual(DOUBLES.map((number) => (number === 0 ? 0 : number)))
    })

    test('of many small numbers is counted by its text, not by its memory', async () => {
      const registry = await stage.fresh()
      const { id, end } = await running(registry)
      await end({ output: JSON.stringify(Array.from({ length: 400_000 }, (_, at) => at % 10)) })
      expect(await registry.statusOf(id)).toBe('completed')
    })
  })

  test('an input may contain zero, but not with thousands of digits', async () => {
    const registry = await stage.fresh()
    const tool = await registry.register('count', { ...FREE, p_schema_input: '{"type":"object"}' })
    const ask = (input: string) =>
      registry.agent.value<string>('select agents.fn_invoke_tool(null, $1, $2, $3)', [tool, 'agent-1', input])
    await expect(ask(`{"n":[${'0e-16383,'.repeat(3000)}0]}`)).rejects.toMatchObject(BAD_STATE)
    expect(await ask('{"n":[0,0.0,-0,1e-25]}')).toBeDefined()
    expect(await ask(`{"n":[${'1,'.repeat(200_000)}0]}`)).toBeDefined()
  })

  test('tools, plans, schemas and facts are limited in size, and their numbers are doubles', async () => {
    const registry = await stage.fresh()
    const send = await registry.register('send')
    const handIn: Readonly<Record<string, (value: string) => Promise<unknown>>> = {
      'schema': (value) => registry.register('odd', { p_schema_input: `{"default":${value}}` }),
      'output schema': (value) => registry.register('odd', { p_schema_output: `{"default":${value}}` }),
      'definition': (value) => registry.register('odd', { p_definition: `{"x":${value}}` }),
      'plan': (value) =>
        registry.agent.query('select agents.fn_start_team_run($1, $2, $3)', [
          registry.owner,
          'release',
          `{"x":${value}}`,
        ]),
      'form': (value) =>
        registry.anna.query(`select agents.fn_approve_in_advance($1, $2, 1, interval '1 hour', 'x')`, [
          send,
          `{"type":"object","properties":{"path":{"enum":[${value}]}},"required":["path"],"additionalProperties":false}`,
        ]),
      'facts': (value) =>
        registry.runner.query('select agents.fn_heartbeat($1, p_facts => $2)', [
          `${registry.owner}-runner`,
          `{"x":${value}}`,
        ]),
    }
    for (const [what, hand] of Object.entries(handIn)) {
      for (const number of HUGE) await expect(hand(number), `${what}: ${number}`).rejects.toMatchObject(BAD_STATE)
      await expect(hand(JSON.stringify(letters(2))), what).rejects.toMatchObject(BAD_STATE)
      for (const right of ['1.7976931348623157e308', '5e-324', '"x"']) await hand(right)
    }
  })

  test('a result is checked against the output schema, and a difference is stored, shown and recorded', async () => {
    const registry = await stage.fresh()
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
    const tool = await registry.register('look', {
      p_egress_class: 'none',
      p_requires_approval: false,
      p_schema_output: JSON.stringify(schema),
    })
    const [problem] = (
      await Promise.all(
        ['{"ok":"yes"}', '{"ok":true}', null, JSON.stringify({ ok: true, more: 'x'.repeat(1_100_000) })].map(
          async (output) => {
            const id = await registry.invoke(tool)
            await registry.runner.query(
              `select agents.fn_complete_tool_invocation($1, 'completed', $2, null, null, $3)`,
              [id, output, (await stage.claim(registry, id))?.fence],
            )
            const [row] = await stage.engine.query<{ output: unknown; problem: string | null; said: string | null }>(
              `select output, output_problem as problem, (select line::jsonb #>> '{details,output_problem}' ` +
                `from agents.audit_events where subject = 'invocation:' || i.id and type = ` +
                `'invocation.completed') as said from agents.tool_invocations i where id = $1`,
              [id],
            )
            expect(row?.output).toEqual(JSON.parse(output ?? 'null'))
            expect(row?.said).toBe(row?.problem)
            return row?.problem
          },
        ),
      )
    )
      .map(
        (each, at) =>
          [
            each,
            [/output\.ok must be boolean/, /^null$/, /output is missing/, /too large to be held against its schema/][
              at
            ],
          ] as const,
      )
      .filter(([each, expected]) => expected?.test(String(each)) !== true)
    expect(problem).toBeUndefined()
    // Nothing is said of one that failed, or whose schema is another by now; one that cannot be checked is none.
    await registry.register('look', {
      p_egress_class: 'none',
      p_requires_approval: false,
      p_schema_output: '{"type":"array"}',
    })
    expect(await registry.admin.value('select version from agents.tools_registry where id = $1', [tool])).toBe(2)
    await expect(registry.register('look', { p_schema_output: '{"$ref":"#"}' })).rejects.toMatchObject(BAD_STATE)
  })

  test('authentication of a tool fits the credential that it names', async () => {
    const registry = await stage.fresh()
    const methodOf = async (key: string, more: object) =>
      registry.admin.value('select auth_method from agents.tools_registry where id = $1', [
        await registry.register(key, { ...more }),
      ])
    expect(await methodOf('a', {})).toBe('none')
    expect(await methodOf('b', { p_credential_ref: 'github' })).toBe('api_key')
    expect(await methodOf('c', { p_credential_ref: 'github', p_auth_method: 'oauth' })).toBe('oauth')
    for (const wrong of [
      { p_auth_method: 'oauth' },
      { p_credential_ref: 'github', p_auth_method: 'none' },
      { p_credential_ref: 'github', p_auth_method: 'password' },
    ])
      await expect(registry.register('d', wrong)).rejects.toMatchObject(BAD_STATE)
  })

  test('reasons and descriptions of tools are limited in size', async () => {
    const registry = await stage.fresh()
    const tool = await registry.register('send')
    const id = await registry.invoke(tool)
    const [long, short] = [letters(0.1), letters(0.01)]
    const say = {
      approve: (text: string) => registry.anna.query('select agents.fn_approve_tool_invocation($1, $2)', [id, text]),
      reject: (text: string) => registry.anna.query('select agents.fn_reject_tool_invocation($1, $2)', [id, text]),
      cancel: (text: string) => registry.agent.query('select agents.fn_cancel_tool_invocation($1, $2)', [id, text]),
      stop: (text: string) => registry.anna.query(`select agents.fn_stop($1, 'pause', $2)`, [registry.owner, text]),
      describe: (text: string) => registry.register('wordy', { p_description: text }),
      step: (text: string) =>
        registry.agent.query(`select agents.fn_invoke_tool(null, $1, 'agent-1', '{}', $2)`, [tool, text]),
      label: (text: string) =>
        registry.admin.query('select agents.fn_create_token($1, $2, $3, $4)', [
          registry.owner,
          'anna',
          `${'ab'.repeat(28)}${registry.owner.padStart(8, '0').replace(/[^0-9]/g, '0')}`,
          text,
        ]),
    }
    for (const [what, saying] of Object.entries(say)) await expect(saying(long), what).rejects.toMatchObject(BAD_STATE)
    for (const saying of [say.stop, say.describe, say.step, say.label, say.approve]) await saying(short)
    expect(await registry.statusOf(id)).toBe('approved')
  })
})
