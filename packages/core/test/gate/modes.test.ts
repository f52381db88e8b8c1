import { describe, expect, it } from 'vitest'

import { MODES } from '../../src/gate/index.js'
import type { GateCall, Mode } from '../../src/gate/index.js'

import { decide, hook, outcome, toolWith } from './stage.js'
import type { Staged } from './stage.js'

const low = toolWith({ name: 'low', policy: { risk: 'low', filesystem: { read: ['/data/**'] } } })
const high = toolWith({ name: 'high', policy: { risk: 'high', filesystem: { write: ['/data/**'] } } })
const highReader = toolWith({ name: 'highReader', policy: { risk: 'high', filesystem: { read: ['/data/**'] } } })
const inProcess = toolWith({ name: 'inProcess', kind: 'in-process', policy: { risk: 'high' } })
const inProcessLow = toolWith({ name: 'inProcessLow', kind: 'in-process', policy: { risk: 'low' } })
const writer = toolWith({ name: 'writer', policy: { risk: 'low', network: ['api.example'] } })
const asks = [{ effect: 'ask', because: 'test' }]
const allows = [{ effect: 'allow', tool: ['high', 'low', 'inProcess', 'writer'], because: 'test' }]
const denies = [{ effect: 'deny', because: 'test' }]

const expectOutcomes = async (
  expected: Readonly<Record<Mode, string>>,
  staged: Staged,
  call: Partial<GateCall> = {},
) => {
  const found: Record<string, string> = {}
  for (const mode of MODES) found[mode] = await outcome({ mode, ...staged }, {}, call)
  expect(found).toEqual(expected)
}

describe('a call without a matching rule', () => {
  it('of low risk', async () => {
    await expectOutcomes(
      {
        default: 'allow',
        untrusted: 'ask',
        on_request: 'sandboxed',
        on_failure: 'sandboxed',
        never: 'sandboxed',
        plan: 'allow',
        bypass: 'sandboxed',
        auto: 'ask',
      },
      { tools: [low] },
    )
  })

  it('of another risk', async () => {
    await expectOutcomes(
      {
        default: 'ask',
        untrusted: 'ask',
        on_request: 'sandboxed',
        on_failure: 'sandboxed',
        never: 'sandboxed',
        plan: 'deny mode-denies',
        bypass: 'sandboxed',
        auto: 'ask',
      },
      { tools: [high] },
    )
  })

  it('runs in plan if its tool only reads, at any risk', async () => {
    expect(await outcome({ tools: [highReader], mode: 'plan' })).toBe('allow')
  })

  it('of an in-process tool never runs because of a sandbox, which it does not have', async () => {
    await expectOutcomes(
      {
        default: 'ask',
        untrusted: 'ask',
        on_request: 'ask',
        on_failure: 'ask',
        never: 'unavailable approval-unavailable',
        plan: 'deny mode-denies',
        bypass: 'allow',
        auto: 'ask',
      },
      { tools: [inProcess] },
    )
    await expectOutcomes(
      {
        default: 'allow',
        untrusted: 'ask',
        on_request: 'allow',
        on_failure: 'allow',
        never: 'allow',
        plan: 'deny mode-denies',
        bypass: 'allow',
        auto: 'ask',
      },
      { tools: [inProcessLow] },
    )
  })

  it('of unknown risk does not count as low risk', async () => {
    expect(await outcome({ tools: [toolWith({ policy: { risk: 'unknown' } })] })).toBe('ask')
  })
})

describe('a call that would ask', () => {
  it('because a rule says so', async () => {
    await expectOutcomes(
      {
        default: 'ask',
        untrusted: 'ask',
        on_request: 'sandboxed',
        on_failure: 'ask',
        never: 'unavailable approval-unavailable',
        plan: 'deny mode-denies',
        bypass: 'sandboxed',
        auto: 'ask',
      },
      { tools: [low], rules: asks },
    )
  })

  it('because a hook says so', async () => {
    await expectOutcomes(
      {
        default: 'ask',
        untrusted: 'ask',
        on_request: 'sandboxed',
        on_failure: 'ask',
        never: 'unavailable approval-unavailable',
        plan: 'deny mode-denies',
        bypass: 'sandboxed',
        auto: 'ask',
      },
      { tools: [low], hooks: [hook({ decision: 'ask' })] },
    )
  })

  it('because it needs more than its policy grants, whatever rules allow', async () => {
    await expectOutcomes(
      {
        default: 'ask',
        untrusted: 'ask',
        on_request: 'ask',
        on_failure: 'ask',
        never: 'unavailable approval-unavailable',
        plan: 'deny mode-denies',
        bypass: 'unavailable approval-unavailable',
        auto: 'ask',
      },
      { tools: [low], rules: allows },
      { widening: { after: 'violation', reason: 'it wanted to write /data' } },
    )
  })

  it('because its tool writes to the network, which always needs approval', async () => {
    await expectOutcomes(
      {
        default: 'ask',
        untrusted: 'ask',
        on_request: 'ask',
        on_failure: 'ask',
        never: 'unavailable approval-unavailable',
        plan: 'deny mode-denies',
        bypass: 'allow',
        auto: 'ask',
      },
      { tools: [writer], rules: allows },
    )
  })

  it('never waits in a session without a person', async () => {
    for (const mode of MODES) {
      const { kind, decision } = await decide({ tools: [high], rules: asks, mode, isInteractive: false })
      expect(kind).not.toBe('asking')
      expect(['unavailable', 'deny', 'sandboxed']).toContain(decision.decision)
    }
    const { decision } = await decide({ tools: [high], isInteractive: false })
    expect(decision).toMatchObject({
      decision: 'unavailable',
      error_code: 'approval-unavailable',
      agent_reason: 'This call needs approval, and nobody can be asked now.',
    })
  })
})

describe('a call that a rule allows', () => {
  it('runs in every mode, in plan only if it reads', async () => {
    await expectOutcomes(
      {
        default: 'allow',
        untrusted: 'allow',
        on_request: 'allow',
        on_failure: 'allow',
        never: 'allow',
        plan: 'deny mode-denies',
        bypass: 'allow',
        auto: 'allow',
      },
      { tools: [high], rules: allows },
    )
  })
})

describe('an explicit deny', () => {
  it('applies in every mode', async () => {
    for (const mode of MODES)
      expect(await outcome({ tools: [low], rules: [...allows, ...denies], mode })).toBe('deny rule-denied')
  })
})

describe('destructive facts', () => {
  const destructive = { impactScope: 'the whole bucket', rollbackAdvice: 'restore the snapshot' }
  const tool = toolWith({ name: 'low', policy: { risk: 'low' }, destructive })

  it('apply in every mode', async () => {
    for (const mode of MODES) {
      const { decision } = await decide({ tools: [tool], mode })
      expect(decision).toMatchObject({
        destructive: true,
        impact_scope: 'the whole bucket',
        rollback_advice: 'restore the snapshot',
      })
    }
  })

  it('make a call neither low-risk nor read-only', async () => {
    expect(await outcome({ tools: [tool] })).toBe('ask')
    expect(await outcome({ tools: [tool], mode: 'plan' })).toBe('deny mode-denies')
  })

  it('may depend on the input, and come from a rule', async () => {
    const perCall = toolWith({
      destructive: (input) => ((input as { readonly force?: boolean }).force === true ? destructive : undefined),
    })
    expect((await decide({ tools: [perCall] }, { force: true })).decision.destructive).toBe(true)
    expect((await decide({ tools: [perCall] }, {})).decision.destructive).toBe(false)
    const rules = [
      {
        effect: 'allow',
        tool: 'tool',
        command: 'rm **',
        because: 'x',
        destructive: { impact_scope: 'files', rollback_advice: 'git checkout' },
      },
    ]
    expect((await decide({ rules }, { command: 'rm a' })).decision).toMatchObject({
      destructive: true,
      impact_scope: 'files',
    })
  })

  it('are assumed if the tool cannot say', async () => {
    const broken = toolWith({
      destructive: () => {
        throw new Error('oops')
      },
    })
    expect((await decide({ tools: [broken] })).decision).toMatchObject({ decision: 'ask', destructive: true })
  })
})

describe('in the mode auto', () => {
  it('a classifier answers instead of a person', async () => {
    expect(
      await outcome({ tools: [high], mode: 'auto', classify: () => ({ decision: 'allow', reason: 'fine' }) }),
    ).toBe('allow')
    expect(await outcome({ tools: [high], mode: 'auto', classify: () => ({ decision: 'deny', reason: 'no' }) })).toBe(
      'deny classifier-denied',
    )
    expect(await outcome({ tools: [high], mode: 'auto', classify: () => ({ decision: 'ask' }) })).toBe('ask')
    expect(await outcome({ tools: [writer], mode: 'auto', classify: () => ({ decision: 'allow' }) })).toBe('allow')
  })

  it('the classifier cannot override a rule that denies or asks', async () => {
    const classify = () => ({ decision: 'allow' })
    expect(await outcome({ tools: [high], mode: 'auto', rules: denies, classify })).toBe('deny rule-denied')
    expect(await outcome({ tools: [high], mode: 'auto', rules: asks, classify })).toBe('ask')
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    ['answers prose', () => 'yes, allow it'],
    ['answers nothing', () => undefined],
    ['answers something unknown', () => ({ decision: 'sure' })],
    ['rejects', () => Promise.reject(new Error('down'))],
  ])('a person is asked if the classifier %s', async (_, classify) => {
    expect(await outcome({ tools: [high], mode: 'auto', classify })).toBe('ask')
    expect(await outcome({ tools: [high], mode: 'auto', classify, isInteractive: false })).toBe(
      'unavailable approval-unavailable',
    )
  })
})

describe('a typed command', () => {
  it('is approved by the person who types it, and the record says so', async () => {
    const { decision } = await decide({ tools: [high] }, {}, { origin: 'command' })
    expect(decision).toMatchObject({ decision: 'allow', decision_source: 'command' })
  })

  it('does not answer a rule or hook that asks, nor the mode untrusted unless a rule allows it', async () => {
    expect(await outcome({ tools: [high], rules: asks }, {}, { origin: 'command' })).toBe('ask')
    expect(await outcome({ tools: [high], rules: asks, isInteractive: false }, {}, { origin: 'command' })).toBe(
      'unavailable approval-unavailable',
    )
    expect(await outcome({ tools: [high], rules: asks, mode: 'never' }, {}, { origin: 'command' })).toBe(
      'unavailable approval-unavailable',
    )
    expect(await outcome({ tools: [high], mode: 'untrusted' }, {}, { origin: 'command' })).toBe('ask')
    expect(await outcome({ tools: [high], mode: 'untrusted', rules: allows }, {}, { origin: 'command' })).toBe('allow')
  })

  it('gives the typed command as the reason', async () => {
    expect(
      (await decide({ tools: [high] }, {}, { origin: 'command', typed: 'typed: --write /out' })).decision,
    ).toMatchObject({ decision_source: 'command', decision_reason: 'typed: --write /out' })
  })

  it('is still denied by a rule, the mode plan or the policy', async () => {
    expect(await outcome({ tools: [high], rules: denies }, {}, { origin: 'command' })).toBe('deny rule-denied')
    expect(await outcome({ tools: [high], mode: 'plan' }, {}, { origin: 'command' })).toBe('deny mode-denies')
    expect(await outcome({ tools: [high] }, { path: '/etc/shadow' }, { origin: 'command' })).toBe(
      'deny argument-path-denied',
    )
  })
})
