import { describe, expect, it } from 'vitest'

import { createSessionCount, parseConstraints, parseSessionCountState } from '../../src/gate/index.js'
import type { SessionCount, SessionBudget } from '../../src/gate/index.js'

import { NOW, callOf, decide, gateWith, outcome, outcomeOf, toolWith } from './stage.js'

const fetch = toolWith({ name: 'fetch' })
const commit = toolWith({ name: 'commit', constraints: { maxInvocations: 3, onlyAfter: ['fetch'] } })
const gate = gateWith({ tools: [fetch, commit] })
const call = async (session: SessionCount, tool: string, input: unknown = {}) =>
  outcomeOf(await gate.decide(callOf(input, { tool, count: session })))

describe('constraints', () => {
  it('require that prerequisites have completed, not just started', async () => {
    const session = createSessionCount()
    expect(await call(session, 'commit')).toBe('deny tool-too-early')
    expect(await call(session, 'fetch')).toBe('allow')
    expect(await call(session, 'commit')).toBe('deny tool-too-early')
    session.complete('fetch')
    expect(await call(session, 'commit')).toBe('allow')
  })

  it('limit the runs of a tool in one session, and start again in the next', async () => {
    for (let run = 0; run < 2; run += 1) {
      const session = createSessionCount()
      session.complete('fetch')
      const outcomes = []
      for (let at = 0; at < 4; at += 1) outcomes.push(await call(session, 'commit'))
      expect(outcomes).toEqual(['allow', 'allow', 'allow', 'deny tool-exhausted'])
    }
  })

  it('apply to concurrent calls', async () => {
    const session = createSessionCount()
    session.complete('fetch')
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => call(session, 'commit')))
    expect(outcomes.filter((each) => each === 'allow')).toHaveLength(3)
  })

  it('disable a forbidden tool, whatever rules, hooks and modes say', async () => {
    const tools = [toolWith({ constraints: { forbidden: true } })]
    const rules = [{ effect: 'allow', tool: 'tool', because: 'x' }]
    expect(await outcome({ tools, rules, mode: 'bypass' })).toBe('deny tool-forbidden')
  })

  it('deny with a reason that helps a model to correct itself', async () => {
    const { decision } = await gate.decide(callOf({}, { tool: 'commit' }))
    expect(decision).toMatchObject({
      decision_source: 'constraint',
      agent_reason: 'Call fetch first. The tool commit may run only after it has completed.',
    })
  })

  it('do not count calls that were denied', async () => {
    const tools = [toolWith({ name: 'once', policy: { filesystem: 'none' }, constraints: { maxInvocations: 1 } })]
    const { decide: ask } = gateWith({ tools })
    const session = createSessionCount()
    const outcomes = []
    for (const path of ['/etc/shadow', 'fine', 'fine'])
      outcomes.push(outcomeOf(await ask(callOf({ path }, { tool: 'once', count: session }))))
    expect(outcomes).toEqual(['deny argument-path-denied', 'allow', 'deny tool-exhausted'])
  })

  it('survive storage: the state is plain JSON, in and out', async () => {
    const before = createSessionCount()
    before.complete('fetch')
    await call(before, 'commit')
    await call(before, 'commit')
    const stored = JSON.parse(JSON.stringify(before.state())) as unknown
    const after = createSessionCount({ state: parseSessionCountState(stored, 'store') })
    expect(after.state()).toEqual(before.state())
    expect([await call(after, 'commit'), await call(after, 'commit')]).toEqual(['allow', 'deny tool-exhausted'])
  })

  it.each([
    {},
    { version: 2 },
    { version: 1, tools: [{ tool: 'a', started: -1, completed: 0 }], last: null, began_at: null },
    { version: 1, tools: [{ tool: 'a', started: 0.5, completed: 0 }] },
    { version: 1 },
    'x',
    null,
    { ...createSessionCount().state(), extra: 1 },
    {
      version: 1,
      tools: [
        { tool: 'a', started: 1, completed: 0 },
        { tool: 'a', started: 0, completed: 0 },
      ],
    },
  ])('refuse an invalid state instead of ignoring it: %j', (stored) => {
    expect(() => parseSessionCountState(stored, 'store')).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^policy-/) as string }),
    )
  })

  it.each([
    { maxInvocations: -1 },
    { maxInvocations: 1.5 },
    { maxInvocations: '3' },
    { onlyAfter: 'fetch' },
    { forbidden: 'yes' },
    { maxInvocatoins: 1 },
  ])('are refused in a declaration: %j', (given) => {
    expect(() => parseConstraints(given, 'tool x')).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^tool x: /) as string }),
    )
  })
})

describe('the budget of a session', () => {
  const outcomes = async (budget: SessionBudget, calls: readonly (readonly [string, unknown])[]) => {
    const session = createSessionCount({ budget })
    session.complete('fetch')
    const found = []
    for (const [tool, input] of calls) found.push(await call(session, tool, input))
    return found
  }

  it('limits all calls, repeats of one tool, and the size of arguments', async () => {
    expect(
      await outcomes({ toolCalls: 2 }, [
        ['fetch', {}],
        ['commit', {}],
        ['fetch', {}],
      ]),
    ).toEqual(['allow', 'allow', 'deny budget-exhausted'])
    expect(
      await outcomes({ sameToolInARow: 2 }, [
        ['fetch', {}],
        ['fetch', {}],
        ['fetch', {}],
        ['commit', {}],
        ['fetch', {}],
      ]),
    ).toEqual(['allow', 'allow', 'deny budget-exhausted', 'allow', 'allow'])
    expect(
      await outcomes({ argumentBytes: 20 }, [
        ['fetch', { a: 'é'.repeat(3) }],
        ['fetch', { a: 'é'.repeat(10) }],
      ]),
    ).toEqual(['allow', 'deny budget-exhausted'])
  })

  it('limits the time since the first call', async () => {
    let now = NOW
    const timed = gateWith({ tools: [fetch], now: () => now })
    const session = createSessionCount({ budget: { duration: 1000 } })
    const at = async (time: number) => {
      now = NOW + time
      return outcomeOf(await timed.decide(callOf({}, { tool: 'fetch', count: session })))
    }
    expect([await at(0), await at(1000), await at(1001)]).toEqual(['allow', 'allow', 'deny budget-exhausted'])
  })
})

describe('a tool', () => {
  it('is denied if it does not exist, with the nearest name as a hint', async () => {
    const { decision } = await decide({ tools: [fetch] }, {}, { tool: 'fetsh' })
    expect(decision).toMatchObject({
      decision: 'deny',
      decision_source: 'registry',
      error_code: 'tool-unknown',
      explain: { what_would_change_it: ['did you mean "fetch"?'] },
      agent_reason: 'There is no tool "fetsh". Did you mean "fetch"?',
    })
    const other = await decide({ tools: [fetch] }, {}, { tool: 'deploy' })
    expect(other.decision.agent_reason).toBe('There is no tool "deploy". The tools are: fetch')
  })

  it.each(['', 'a b', 'a\nb', 'a\u0000', 'a\u202eb', 'é', '__proto__', 'a'.repeat(129)])(
    'cannot be named %j',
    (name) => {
      expect(() => toolWith({ name })).toThrow(expect.objectContaining({ code: 'tool-name-invalid' }))
    },
  )

  it('cannot have the name of another tool, or one that looks the same', () => {
    expect(() => gateWith({ tools: [fetch, toolWith({ name: 'Fetch' })] })).toThrow(
      expect.objectContaining({ code: 'tool-name-invalid' }),
    )
  })
})
