import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'

import { EFFECTS, MODES, RULE_SOURCES } from '../../src/gate/index.js'
import { DECISIONS, DECISION_SOURCES } from '../../src/gate/record/permission-decision.js'
import type { Evaluation, GateCall } from '../../src/gate/index.js'
import { RISKS } from 'cordon/policy'

import { callOf, decide, gateWith, hook, toolWith } from './stage.js'
import type { Staged } from './stage.js'

interface Schema {
  readonly required: readonly string[]
  readonly properties: Readonly<
    Record<
      string,
      {
        readonly enum?: readonly string[]
        readonly items?: { readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>> }
      }
    >
  >
}

const schemaOf = (name: string) =>
  JSON.parse(readFileSync(fileURLToPath(import.meta.resolve(`cordon/schemas/${name}.schema.json`)), 'utf8')) as Schema
const STATE = schemaOf('permission_state')
const DECISION = schemaOf('permission_decision')

const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  strictRequired: false,
  strictTypes: false,
  allowUnionTypes: true,
})
const validators = { state: ajv.compile(STATE), decision: ajv.compile(DECISION) }
const problems = (kind: keyof typeof validators, record: unknown) =>
  validators[kind](JSON.parse(JSON.stringify(record))) ? [] : validators[kind].errors

const high = toolWith({ policy: { risk: 'high', filesystem: { read: ['/data/**'] } } })
const rule = (effect: string, more: object = {}) => ({ effect, tool: 'tool', because: 'test', ...more })

const SITUATIONS: Readonly<Record<string, readonly [Staged, unknown?, Partial<GateCall>?]>> = {
  'an allow by the mode': [{}],
  'a sandboxed run': [{ tools: [high], mode: 'never' }],
  'an allow by a rule': [{ tools: [high], rules: [rule('allow')] }],
  'a denial by a rule': [{ rules: [rule('deny')] }],
  'a question': [{ tools: [high], rules: [rule('ask')] }],
  'nobody to ask': [{ tools: [high], isInteractive: false }],
  'an unknown tool': [{}, {}, { tool: 'other' }],
  'an input that is not JSON': [{}, { a: 1n }],
  'an input of nothing': [{}, undefined],
  'a path outside': [{}, { path: '/etc/shadow' }],
  'an edited input': [
    { hooks: [hook((event) => ('b' in (event.input as object) ? {} : { updatedInput: { b: 1 } }))] },
    { a: 1 },
  ],
  'a hook that failed': [{ hooks: [hook(() => Promise.reject(new Error('x')))] }],
  'a result of a hook': [{ hooks: [hook({ result: 1 })] }],
  'a destructive call': [
    { tools: [toolWith({ destructive: { impactScope: 'a', rollbackAdvice: 'b' } })], mode: 'bypass' },
  ],
  'a command of a person': [{ tools: [high] }, {}, { origin: 'command' }],
  'a classifier': [{ tools: [high], mode: 'auto', classify: () => ({ decision: 'deny', reason: 'no' }) }],
}

describe('permission_decision', () => {
  it.each(Object.entries(SITUATIONS))('of %s fits its schema', async (_, [staged, input, call]) => {
    const { decision } = await decide(staged, input, call)
    expect(problems('decision', decision)).toEqual([])
  })

  it('of an answered approval fits its schema too', async () => {
    for (const answer of [
      { kind: 'approve_once', by: 'ann' },
      { kind: 'approve_for_scope', by: 'ann' },
      { kind: 'deny', by: 'ann' },
      { kind: 'modify', by: 'ann', input: { a: 2 } },
      { kind: 'timed_out' },
      'prose',
    ]) {
      const gate = gateWith({ tools: [high] })
      const { decision } = await gate.settle(await gate.decide(callOf()), answer)
      expect(problems('decision', decision)).toEqual([])
    }
  })

  it('has every field of the standard, and a reason for the model if the call may not run', async () => {
    expect(DECISION.required).toEqual([
      'decision_id',
      'decision',
      'decision_source',
      'decision_reason',
      'rule_refs',
      'updated_input_ref',
      'approval_action_id',
      'expires_at',
      'scope',
    ])
    for (const [staged, input, call] of Object.values(SITUATIONS)) {
      const { kind, decision } = await decide(staged, input, call)
      expect(decision.agent_reason === null).toBe(kind === 'permitted' || kind === 'substituted')
      expect(decision.explain.what_would_change_it.length > 0 || decision.error_code !== null).toBe(true)
    }
  })

  it('is refused by its schema if a required field is missing', async () => {
    const { decision } = await decide({})
    for (const key of DECISION.required) expect(problems('decision', { ...decision, [key]: undefined })).not.toEqual([])
    expect(problems('decision', { ...decision, decision: 'maybe' })).not.toEqual([])
    expect(problems('decision', { ...decision, destructive: true })).not.toEqual([])
    expect(problems('decision', { ...decision, decision: 'ask' })).not.toEqual([])
    expect(problems('decision', { ...decision, arguments_hash: 'x' })).not.toEqual([])
  })

  it('and its schema have the same fields', () => {
    expect(DECISION.properties['decision']?.enum).toEqual([...DECISIONS])
    expect(DECISION.properties['decision_source']?.enum).toEqual([...DECISION_SOURCES])
    expect(DECISION.properties['mode']?.enum).toEqual([...MODES])
    expect(DECISION.properties['risk']?.enum).toEqual([...RISKS])
  })

  it('tells the model nothing about the host that the model did not say itself', async () => {
    const secrets = ['/home/ann', 'secret-rule', '/data/**', 'hook-name']
    const rules = [{ id: 'secret-rule', effect: 'ask', because: 'because' }]
    const evaluations: Evaluation[] = [
      await decide({ tools: [high] }, { path: '/etc/shadow' }),
      await decide({ rules, isInteractive: false }),
      await decide({
        hooks: [hook(() => Promise.reject(new Error('/home/ann/hook.js failed')), { name: 'hook-name' })],
      }),
      await decide(
        {
          tools: [high],
          resolvePath: () => ({
            kind: 'object',
            path: '/home/ann/.ssh/id_rsa' as never,
            exists: true,
            parentExists: true,
          }),
        },
        { path: '/data/link' },
      ),
    ]
    for (const { decision } of evaluations) {
      expect(decision.agent_reason).not.toBeNull()
      for (const secret of secrets) expect(decision.agent_reason).not.toContain(secret)
    }
  })
})

describe('permission_state', () => {
  it('has the mode, the rules with their places, the sources, and whether a person can be asked', () => {
    const state = gateWith({
      mode: 'plan',
      isInteractive: false,
      policySources: ['bundled:github'],
      rules: { user: [rule('deny')], managed: { managed_only: ['allow_rules'], rules: [rule('ask', { id: 'M' })] } },
    }).state()
    expect(state).toEqual({
      mode: 'plan',
      rules: [
        { ref: 'M', effect: 'ask', source: 'managed', place: 'managed.yaml', because: 'test' },
        { ref: 'user:user.yaml#1', effect: 'deny', source: 'user', place: 'user.yaml', because: 'test' },
      ],
      policy_sources: ['bundled:github', 'managed.yaml', 'user.yaml'],
      interactive: false,
      managed_only: ['allow_rules'],
    })
    expect(problems('state', state)).toEqual([])
  })

  it('and its schema have the same fields', () => {
    expect(STATE.properties['mode']?.enum).toEqual([...MODES])
    expect(STATE.properties['rules']?.items?.properties['effect']?.enum).toEqual([...EFFECTS])
    expect(STATE.properties['rules']?.items?.properties['source']?.enum).toEqual([...RULE_SOURCES])
    for (const key of STATE.required)
      expect(problems('state', { ...gateWith().state(), [key]: undefined })).not.toEqual([])
  })
})
