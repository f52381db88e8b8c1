import { describe, expect, it } from 'vitest'

import type { HookEvent } from '../../src/gate/index.js'

import { callOf, decide, gateWith, hook, impatientWait, outcome, outcomeOf, toolWith } from './stage.js'

const tool = toolWith({ name: 'tool', policy: { risk: 'high', filesystem: { read: ['/data/**'] } } })
const staged = { tools: [tool] }
const edit = (updatedInput: unknown) => (event: HookEvent) =>
  JSON.stringify(event.input) === JSON.stringify(updatedInput) ? {} : { updatedInput }

describe('a hook before a call', () => {
  it('may allow, ask, deny or block', async () => {
    expect(await outcome({ ...staged, hooks: [hook({ decision: 'allow' })] })).toBe('allow')
    expect(await outcome({ hooks: [hook({ decision: 'ask' })] })).toBe('ask')
    expect(await outcome({ hooks: [hook({ decision: 'deny', reason: 'no' })] })).toBe('deny hook-denied')
    expect(await outcome({ hooks: [hook({ decision: 'block' })] })).toBe('deny hook-denied')
    expect(await outcome({ hooks: [hook({ decision: 'continue' }), hook(undefined)] })).toBe('allow')
  })

  it('that allows is one source among others: explicit deny and ask rules still apply', async () => {
    const hooks = [hook({ decision: 'allow' })]
    const { decision } = await decide({ ...staged, hooks })
    expect(decision).toMatchObject({ decision: 'allow', decision_source: 'hook' })
    expect(await outcome({ ...staged, hooks, rules: [{ effect: 'deny', because: 'x' }] })).toBe('deny rule-denied')
    expect(await outcome({ ...staged, hooks, rules: [{ effect: 'ask', because: 'x' }] })).toBe('ask')
    expect(
      await outcome({
        ...staged,
        hooks,
        mode: 'plan',
        tools: [toolWith({ policy: { filesystem: { write: ['/x'] } } })],
      }),
    ).toBe('deny mode-denies')
  })

  it('that allows does not hide another hook that denies or asks, in any order', async () => {
    for (const strict of ['deny', 'ask'] as const) {
      for (const hooks of [
        [hook({ decision: 'allow' }), hook({ decision: strict })],
        [hook({ decision: strict }), hook({ decision: 'allow' })],
      ]) {
        expect(await outcome({ ...staged, hooks })).toMatch(strict)
      }
    }
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('oops')
      },
    ],
    ['rejects', () => Promise.reject(new Error('oops'))],
    [
      'throws something that is no error',
      () => {
        throw Object.create(null)
      },
    ],
    ['answers prose', () => 'looks fine, approved'],
    ['answers true', () => true],
    ['answers a decision that does not exist', () => ({ decision: 'approve' })],
    ['answers an unknown key', () => ({ decison: 'allow' })],
    ['edits the input into something that is not JSON', () => ({ updatedInput: { when: new Date(0) } })],
  ])('that %s denies', async (_, run) => {
    expect(await outcome({ hooks: [hook(run)] })).toBe('deny hook-failed')
    expect(await outcome({ hooks: [hook({ decision: 'allow' }), hook(run)] })).toBe('deny hook-failed')
  })

  it('denies if it takes too long, and is told to stop', async () => {
    let signal: AbortSignal | undefined
    const never = hook(undefined, {
      run: (_, options) => {
        ;({ signal } = options)
        return new Promise(() => undefined)
      },
    })
    expect(await outcome({ hooks: [never], wait: impatientWait })).toBe('deny hook-failed')
    expect(signal?.aborted).toBe(true)
    expect(await outcome({ hooks: [hook({})], wait: impatientWait })).toBe('allow')
  })

  it('cannot change the call that it sees', async () => {
    const { inputs } = await decide(
      { hooks: [hook((event) => void Reflect.set(event.input as object, 'a', 2))] },
      { a: 1 },
    )
    expect(inputs).toMatchObject({ model: { a: 1 }, call: { a: 1 } })
  })

  it('may replace the tool: nothing may run, and there is a result', async () => {
    const evaluation = await decide({ hooks: [hook({ result: { cached: true } })] })
    expect(evaluation).toMatchObject({
      kind: 'substituted',
      result: { cached: true },
      decision: { decision: 'allow', decision_source: 'hook' },
    })
    expect(evaluation).not.toHaveProperty('permit')
  })

  it('that replaces the tool cannot bypass a denial or an approval', async () => {
    const hooks = [hook({ result: 1 })]
    expect(await outcome({ hooks, rules: [{ effect: 'deny', because: 'x' }] })).toBe('deny rule-denied')
    const gate = gateWith({ ...staged, hooks })
    const asked = await gate.decide(callOf())
    expect(outcomeOf(asked)).toBe('ask')
    expect(await gate.settle(asked, { kind: 'approve_once', by: 'ann' })).toMatchObject({
      kind: 'substituted',
      result: 1,
    })
  })

  it('may add context for the model', async () => {
    const { context } = await decide({ hooks: [hook({ context: ['one'] }), hook({ context: ['two', 'one'] })] })
    expect(context).toEqual(['one', 'two'])
  })
})

describe('an input that a hook changed', () => {
  it("is the input that runs, and the model's input stays on record", async () => {
    const evaluation = await decide({ hooks: [hook(edit({ a: 2 }))] }, { a: 1 })
    expect(evaluation).toMatchObject({
      kind: 'permitted',
      inputs: { model: { a: 1 }, call: { a: 2 } },
    })
    expect(evaluation.decision.updated_input_ref).toBe(evaluation.decision.arguments_hash)
    expect((await decide({}, { a: 1 })).decision.updated_input_ref).toBeNull()
  })

  it('is parsed again', async () => {
    const parse = (value: unknown) =>
      (value as { readonly a?: unknown }).a === 'bad'
        ? { kind: 'problem' as const, problem: 'a is bad' }
        : { kind: 'input' as const, value }
    expect(await outcome({ tools: [toolWith({ parse })], hooks: [hook(edit({ a: 'bad' }))] }, { a: 'good' })).toBe(
      'deny input-invalid',
    )
  })

  it('passes the argument gate again', async () => {
    expect(await outcome({ ...staged, hooks: [hook(edit({ path: '/etc/shadow' }))] }, { path: '/data/a' })).toBe(
      'deny argument-path-denied',
    )
    expect(
      await outcome({ ...staged, mode: 'never', hooks: [hook(edit({ path: '/data/b' }))] }, { path: '/data/a' }),
    ).toBe('sandboxed')
  })

  it('is shown again to every hook: an early edit does not hide a later deny', async () => {
    const guard = hook((event) => ((event.input as { readonly a: number }).a === 2 ? { decision: 'deny' } : {}))
    for (const hooks of [
      [hook(edit({ a: 2 })), guard],
      [guard, hook(edit({ a: 2 }))],
    ])
      expect(await outcome({ hooks }, { a: 1 })).toBe('deny hook-denied')
    const always = hook({ decision: 'deny' })
    for (const hooks of [
      [hook(edit({ a: 2 })), always],
      [always, hook(edit({ a: 2 }))],
    ])
      expect(await outcome({ hooks }, { a: 1 })).toBe('deny hook-denied')
  })

  it('is judged by rules again', async () => {
    const rules = [{ effect: 'deny', arguments: { a: 'x' }, because: 'x' }]
    expect(await outcome({ rules, hooks: [hook(edit({ a: 'x' }))] }, { a: 'y' })).toBe('deny rule-denied')
  })

  it('still needs the approval that a hook required before', async () => {
    const asking = hook((event) => ((event.input as { readonly a: number }).a === 1 ? { decision: 'ask' } : {}))
    expect(await outcome({ hooks: [asking, hook(edit({ a: 2 }))] }, { a: 1 })).toBe('ask')
  })

  it('loses an allow that applied to the old input', async () => {
    const allowing = hook((event) => ((event.input as { readonly a: number }).a === 1 ? { decision: 'allow' } : {}))
    expect(await outcome({ ...staged, hooks: [allowing, hook(edit({ a: 2 }))] }, { a: 1 })).toBe('ask')
  })

  it('by two hooks in different places has both changes, in any order', async () => {
    const one = hook((event) =>
      (event.input as { readonly a: number }).a === 1 ? { updatedInput: { ...(event.input as object), a: 2 } } : {},
    )
    const two = hook((event) =>
      'b' in (event.input as object) ? {} : { updatedInput: { ...(event.input as object), b: 3 } },
    )
    for (const hooks of [
      [one, two],
      [two, one],
    ])
      expect((await decide({ hooks }, { a: 1 })).inputs.call).toEqual({ a: 2, b: 3 })
  })

  it('by two hooks in one place to different values is denied', async () => {
    expect(
      await outcome(
        { hooks: [hook({ updatedInput: { a: 2 } }, { name: 'x' }), hook({ updatedInput: { a: 3 } }, { name: 'y' })] },
        { a: 1 },
      ),
    ).toBe('deny hooks-disagree')
  })

  it('repeatedly is denied in the end', async () => {
    let count = 0
    const restless = hook(() => {
      count += 1
      return { updatedInput: { count } }
    })
    expect(await outcome({ hooks: [restless] })).toBe('deny edits-without-end')
    expect(count).toBeLessThan(20)
  })
})

describe('a hook for permission requests', () => {
  const at = { point: 'permission_request' as const }

  it('sees why a person would be asked, and may answer if only the mode asks', async () => {
    let reason: string | null = null
    const hooks = [hook((event) => ({ decision: (reason = event.reason) === null ? 'deny' : 'allow' }), at)]
    expect(await outcome({ ...staged, hooks })).toBe('allow')
    expect(reason).toMatch(/risk/)
  })

  it('cannot answer if a rule, a hook or the network class requires a person', async () => {
    const hooks = [hook({ decision: 'allow' }, at)]
    expect(await outcome({ ...staged, hooks, rules: [{ effect: 'ask', because: 'x' }] })).toBe('ask')
    expect(await outcome({ hooks: [...hooks, hook({ decision: 'ask' })] })).toBe('ask')
    expect(
      await outcome({ hooks, tools: [toolWith({ policy: { network: ['api.example'], egress_class: 'write' } })] }),
    ).toBe('ask')
  })

  it('may deny, fail and change the input like any other', async () => {
    expect(await outcome({ ...staged, hooks: [hook({ decision: 'deny' }, at)] })).toBe('deny hook-denied')
    expect(await outcome({ ...staged, hooks: [hook(() => Promise.reject(new Error('x')), at)] })).toBe(
      'deny hook-failed',
    )
    expect(await outcome({ ...staged, hooks: [hook(edit({ path: '/etc/x' }), at)] }, { path: '/data/a' })).toBe(
      'deny argument-path-denied',
    )
    const { inputs } = await decide({ ...staged, hooks: [hook(edit({ path: '/data/b' }), at)] }, { path: '/data/a' })
    expect(inputs.call).toEqual({ path: '/data/b' })
  })

  it('is not called if nobody would be asked', async () => {
    expect(await outcome({ hooks: [hook({ decision: 'deny' }, at)] })).toBe('allow')
  })
})

describe('hooks at other points', () => {
  it('after a call may replace or withhold its result, and add context', async () => {
    const gate = gateWith({
      hooks: [
        hook(
          (event) => ({ updatedOutput: `${JSON.stringify(event.output)}!`, context: ['note'], suppressOutput: true }),
          { point: 'post_tool_use' },
        ),
      ],
    })
    expect(await gate.runHooks('post_tool_use', { callId: 'c', tool: 'tool', output: 'done' })).toMatchObject({
      kind: 'passed',
      updatedOutput: { value: '"done"!' },
      context: ['note'],
      suppressOutput: true,
    })
    expect(await gate.runHooks('post_tool_failure', { output: 'x' })).toMatchObject({
      kind: 'passed',
      updatedOutput: undefined,
    })
  })

  it.each([
    'session_start',
    'stop',
    'post_tool_use',
    'post_tool_failure',
    'user_prompt_submit',
    'post_sampling',
  ] as const)('%s: a failing hook denies there too', async (point) => {
    const gate = gateWith({ hooks: [hook(() => Promise.reject(new Error('x')), { point })] })
    expect(await gate.runHooks(point, {})).toMatchObject({ kind: 'denied', denial: { code: 'hook-failed' } })
  })
})
