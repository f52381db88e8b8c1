// The caller of a function controls neither how long a value is checked nor by which settings.
import { expect, test } from 'vitest'

import { invokeTool } from '../../src/store/index.js'
import { unfitNumber } from '../../src/server/read-body.js'

import { BAD_STATE, describeRegistry } from './describe-registry.js'

describeRegistry('values', (stage) => {
  const { fresh } = stage

  test('a pattern cannot look ahead or behind everywhere, which takes quadratic time, but at the beginning it can', async () => {
    const registry = await fresh()
    const of = (pattern: string) => ({
      p_egress_class: 'none',
      p_requires_approval: false,
      p_schema_input: JSON.stringify({ type: 'object', properties: { s: { type: 'string', pattern } } }),
    })
    for (const pattern of [
      '(?=.*b)a',
      '^a(?=.*b)',
      '^(?:a(?=.*b))*$',
      '(?<=a)b',
      '^(?=.*b)*a',
      '^(?=(?!.*b).*c)a',
      'x|^(?!a)b',
      '^(?:(?!x).)*$',
    ])
      await expect(registry.register('bad', of(pattern)), pattern).rejects.toMatchObject({
        ...BAD_STATE,
        message: expect.stringContaining('looks ahead or behind') as string,
      })
    const tool = await registry.register('path', of('^(?!.*\\.\\.)(?=[^/])[a-z/(?=)\\[(?=\\]]+$'))
    const ask = (text: string) =>
      registry.agent.value('select agents.fn_invoke_tool(null, $1, $2, $3)', [
        tool,
        'agent-1',
        JSON.stringify({ s: text }),
      ])
    expect(await ask('a/b'.repeat(30_000))).toBeDefined()
    for (const text of ['a/..', '/a']) await expect(ask(text), text).rejects.toMatchObject(BAD_STATE)
    // One that was registered before it was refused is held against short texts alone.
    expect([
      await stage.engine.query(`select agents.fn_pattern_reach('(?=.*b)a') as most`),
      await stage.engine.query(`select agents.fn_pattern_reach('^(?=.*b)a') as most`),
    ]).toEqual([[{ most: 1000 }], [{ most: 100_000 }]])
  })

  test('a refusal does not depend on the settings of the session', async () => {
    const problems = (setting: string) =>
      stage.engine.transaction(async ({ query, execute }) => {
        await execute(`${setting}; discard plans`)
        return query(
          'select agents.fn_schema_problem($1) as back, agents.fn_schema_problem($2) as edge, ' +
            'agents.fn_schema_problem($3) as fine, agents.fn_json_problem($4) as number',
          ['{"pattern":"(a)\\\\1"}', '{"pattern":"\\\\bsudo"}', '{"pattern":"^\\\\d+$"}', '[0.1234567890123456]'],
        )
      })
    const usual = await problems('set local standard_conforming_strings = on')
    expect(usual).toEqual([
      {
        back: '$ has a pattern with a reference back',
        edge: expect.stringContaining('means something else here') as string,
        fine: null,
        number: null,
      },
    ])
    expect(await problems('set local standard_conforming_strings = off; set local extra_float_digits = -5')).toEqual(
      usual,
    )
    expect(
      await stage.engine.query(
        `select p.proname from pg_proc p where p.pronamespace = 'agents'::regnamespace and position(chr(92) ` +
          `in p.prosrc) > 0 and not coalesce('standard_conforming_strings=on' = any (p.proconfig), false)`,
      ),
    ).toEqual([])
  })

  test('an input that is too large is refused before its numbers are checked, and a smaller one is accepted', async () => {
    const registry = await fresh()
    const tool = await registry.register('count', {
      p_egress_class: 'none',
      p_requires_approval: false,
      p_schema_input: '{"type":"object"}',
    })
    const problem = async (value: string) =>
      (await stage.engine.query<{ problem: string | null }>('select agents.fn_json_problem($1) as problem', [value]))[0]
        ?.problem
    expect(await problem(JSON.stringify({ x: 'x'.repeat(34_000_000), n: 0 }).replace('0}', '9007199254740993}'))).toBe(
      'is larger than 4 MB',
    )
    expect(await problem(JSON.stringify({ x: 'x'.repeat(5_000_000), n: 0.1 }))).toBe('is larger than 4 MB')
    expect(await problem(JSON.stringify({ x: 'x'.repeat(3_000_000), n: 0.1 }))).toBeNull()
    // A small number takes twelve bytes in memory, which is looked at before any number is.
    expect(await problem(`[${'1,'.repeat(400_000)}1e131071]`)).toBe('is larger than 4 MB')
    expect(await problem(`[${'1,'.repeat(300_000)}1e131071]`)).toContain('too large')
    expect(await problem(`[${'1,'.repeat(300_000)}1]`)).toBeNull()
    for (const n of [Number.POSITIVE_INFINITY, Number.NaN])
      await expect(invokeTool(registry.agent, { toolId: tool, agent: 'agent-1', input: { n } })).rejects.toMatchObject(
        BAD_STATE,
      )
    expect(
      await invokeTool(registry.agent, { toolId: tool, agent: 'agent-1', input: { n: Number.MAX_SAFE_INTEGER } }),
    ).toBeDefined()
  })
})

test('a number that programs read differently is found in JSON, and every other one is kept', () => {
  for (const number of [
    '1e400',
    '-1e400',
    '9007199254740993',
    '0.12345678901234567890',
    '1e-400',
    '123456789012345678901234567890',
  ])
    expect(unfitNumber(`{"a":[1,"2",{"n":${number}}]}`, 'exact'), number).toBe(number)
  for (const number of [
    '0',
    '-0',
    '1',
    '0.1',
    '1.50',
    '100000000000000000000',
    '1e21',
    '5e-324',
    '1.7976931348623157e308',
    '0.30000000000000004',
    '1.0e+2',
    '9007199254740991',
    '0.000000',
  ])
    expect(unfitNumber(`[${number}]`, 'exact'), number).toBeUndefined()
  expect(unfitNumber('{"1e400":"1e400 \\" 9007199254740993"}', 'exact')).toBeUndefined()
  expect([unfitNumber('[0.1000000000000000055511151231257827]', 'double'), unfitNumber('[1e400]', 'double')]).toEqual([
    undefined,
    '1e400',
  ])
})
