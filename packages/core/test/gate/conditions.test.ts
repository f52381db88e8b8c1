// Compares every condition of a rule with calls, alone and beside other conditions.
import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { CONDITIONS, CONDITION_KEYS } from '../../src/gate/rules/conditions.js'
import { RULE_KEYS } from '../../src/gate/rules/parse-rule.js'
import type { ConditionKey } from '../../src/gate/rules/rule.js'

import { outcome, toolWith } from './stage.js'

const tool = toolWith({
  name: 'files',
  policy: { risk: 'high', filesystem: { read: ['/'], write: ['/'] }, network: 'all', egress_class: 'read_only' },
})

/** A condition, a call that it speaks of, and one that it does not: what a new condition has to bring. */
const SAMPLES: {
  readonly [Key in ConditionKey]: { readonly condition: unknown; readonly spokenOf: unknown; readonly other: unknown }
} = {
  tools: { condition: 'files', spokenOf: { x: 1 }, other: undefined },
  arguments: { condition: { branch: 'main' }, spokenOf: { branch: 'main' }, other: { branch: 'dev' } },
  paths: { condition: '/data/**', spokenOf: { p: '/data/a' }, other: { p: '/other/a' } },
  hosts: { condition: 'a.example', spokenOf: { url: 'https://a.example/' }, other: { url: 'https://b.example/' } },
  commands: { condition: 'make test', spokenOf: { command: 'make test' }, other: { command: 'rm x' } },
}

const judged = (effect: string, conditions: object, input: unknown, name = 'files') =>
  outcome({ tools: [{ ...tool, name }], rules: [{ effect, because: 'test', ...conditions }] }, input)

describe.each(CONDITION_KEYS)('a rule with the condition %s', (key) => {
  const { written } = CONDITIONS[key]
  const { condition, spokenOf, other } = SAMPLES[key]
  // A call of another tool is the other call of a rule about a tool.
  const another = key === 'tools' ? 'else' : 'files'

  it('denies and allows exactly the calls that match it', async () => {
    expect(await judged('deny', { [written]: condition }, spokenOf)).toBe('deny rule-denied')
    expect(await judged('deny', { [written]: condition }, other ?? {}, another)).toBe('ask')
    expect(await judged('allow', { [written]: condition }, spokenOf)).toBe('allow')
    expect(await judged('allow', { [written]: condition }, other ?? {}, another)).toBe('ask')
  })

  it.each(CONDITION_KEYS.filter((beside) => beside !== key))('must match together with %s', async (beside) => {
    const conditions = { [written]: condition, [CONDITIONS[beside].written]: SAMPLES[beside].condition }
    const both = { ...(SAMPLES[beside].spokenOf as object), ...(spokenOf as object) }
    expect(await judged('allow', conditions, both)).toBe('allow')
    expect(await judged('allow', conditions, { ...both, ...(other ?? {}) }, another)).toBe('ask')
  })

  it('has its key in rule files, and a row in docs/decisions-and-rules.md', () => {
    const page = readFileSync(new URL('../../docs/decisions-and-rules.md', import.meta.url), 'utf8')
    expect(RULE_KEYS).toContain(written)
    expect(page).toMatch(new RegExp(`^\\| \`${written}\` \\|`, 'm'))
  })
})
