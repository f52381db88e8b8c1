import { describe, expect, test } from 'vitest'

import { describeTool, parseRules, usualOutcome } from '../../src/gate/index.js'
import type { Mode, RuleInput } from '../../src/gate/index.js'
import { parseAbsolutePath, parsePolicy } from '../../src/policy/index.js'
import type { PolicyInput, ToolKind } from '../../src/policy/index.js'

const places = { workspace: parseAbsolutePath('/work'), home: parseAbsolutePath('/home/ann') }
const outcome = (
  rules: readonly RuleInput[],
  { mode = 'default', policy = {}, kind = 'process' }: { mode?: Mode; policy?: PolicyInput; kind?: ToolKind } = {},
) =>
  usualOutcome(
    describeTool({ name: 'bash', kind, policy: parsePolicy(policy, 'policy'), ...places }),
    [parseRules(rules, 'rules', { source: 'session', places })],
    mode,
  )
const WRITES = { filesystem: { write: ['.'] } } as const

describe('a call usually', () => {
  test.each([
    ['runs at a low risk', [], {}, 'allow'],
    ['asks at a higher risk', [], { policy: WRITES }, 'ask'],
    ['runs if a rule allows it', [{ effect: 'allow', tool: 'bash', because: 'b' }], { policy: WRITES }, 'allow'],
    ['is denied if a rule denies it', [{ effect: 'deny', tool: 'b*', because: 'b' }], {}, 'deny'],
    ['asks if a rule asks about every tool', [{ effect: 'ask', because: 'b' }], {}, 'ask'],
    ['does not care about a rule of another tool', [{ effect: 'deny', tool: 'ls', because: 'b' }], {}, 'allow'],
    ['does not care about a rule of a path', [{ effect: 'deny', paths: '/etc/**', because: 'b' }], {}, 'allow'],
    ['runs in its sandbox, in the mode on_request', [], { mode: 'on_request', policy: WRITES }, 'allow'],
    [
      'asks without a sandbox, in the mode on_request',
      [],
      { mode: 'on_request', policy: WRITES, kind: 'in-process' },
      'ask',
    ],
    ['is denied in the mode plan, if it writes', [], { mode: 'plan', policy: WRITES }, 'deny'],
    ['asks where a classifier decides', [], { mode: 'auto' }, 'ask'],
    [
      'is denied where nobody is asked',
      [{ effect: 'ask', because: 'b' }],
      { mode: 'never', kind: 'in-process' },
      'deny',
    ],
    ['runs in the mode bypass', [{ effect: 'ask', because: 'b' }], { mode: 'bypass' }, 'allow'],
  ] as const)('%s', (_, rules, settings, expected) => {
    expect(outcome(rules, settings)).toBe(expected)
  })
})
