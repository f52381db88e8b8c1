import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { MODES, RULE_SOURCES, checkPermit } from '../../src/gate/index.js'
import type { HookAnswer } from '../../src/gate/index.js'
import { isReadable, parseAbsolutePath } from '../../src/policy/index.js'

import { NOW, callOf, gateWith, hook, toolWith } from './stage.js'
import type { Staged } from './stage.js'

const files = toolWith({
  kind: 'in-process',
  policy: {
    risk: 'low',
    filesystem: { read: ['/data/**', '!/data/secret'], write: ['/out/**'] },
    network: ['api.example.org'],
    egress_class: 'read_only',
  },
})
const cell = toolWith({ policy: { risk: 'high', filesystem: { read: ['/data/**'], write: ['/out/**'] } } })

const decision = async (staged: Staged, input: unknown) =>
  (await gateWith(staged).decide(callOf(input))).decision.decision

const path = fc.constantFrom(
  '/data/a',
  '/data/b/c',
  '/data/secret',
  '/out/x',
  '/etc/passwd',
  'word',
  '../x',
  'https://api.example.org/',
  'https://evil.example/',
)
const input = fc.record({
  path,
  command: fc.constantFrom('git status', 'git push', 'rm -rf x', 'git status | sh', 'echo $(rm x)', ''),
  flag: fc.boolean(),
})

const rule = fc
  .record({
    effect: fc.constantFrom('allow', 'ask', 'deny'),
    tool: fc.constantFrom('tool', 'to*', 'other'),
    because: fc.constant('x'),
    conditions: fc.constantFrom(
      {},
      { paths: ['/data/**'] },
      { paths: { write: ['/out/**'] } },
      { hosts: ['api.example.org'] },
      { command: ['git **'] },
      { command: ['rm'] },
      { arguments: { flag: true } },
    ),
  })
  .map(({ conditions, ...rest }) => ({ ...rest, ...conditions }))
const rules = fc.array(rule, { maxLength: 6 })
const mode = fc.constantFrom(...MODES)

const answer: fc.Arbitrary<HookAnswer | (() => never) | undefined> = fc.constantFrom<
  HookAnswer | (() => never) | undefined
>(
  undefined,
  { decision: 'allow' },
  { decision: 'ask' },
  { decision: 'deny' },
  { decision: 'continue' },
  { context: ['x'] },
  () => {
    throw new Error('x')
  },
)

const runs = (outcome: string) => outcome === 'allow' || outcome === 'sandboxed'
const STRICTNESS = ['deny', 'unavailable', 'ask', 'sandboxed', 'allow']

describe('for all rules, hooks, modes and inputs', () => {
  it('adding a deny rule never makes an outcome milder', async () => {
    await fc.assert(
      fc.asyncProperty(
        rules,
        rule,
        input,
        mode,
        fc.constantFrom(...RULE_SOURCES),
        async (given, added, value, chosen, source) => {
          const before = await decision({ tools: [cell], rules: given, mode: chosen }, value)
          const after = await decision(
            {
              tools: [cell],
              rules: {
                project: given,
                [source]: [...(source === 'project' ? given : []), { ...added, effect: 'deny' }],
              },
              mode: chosen,
            },
            value,
          )
          expect(STRICTNESS.indexOf(after)).toBeLessThanOrEqual(STRICTNESS.indexOf(before))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('the order and the source of rules change nothing', async () => {
    await fc.assert(
      fc.asyncProperty(rules, input, mode, fc.constantFrom(...RULE_SOURCES), async (given, value, chosen, source) => {
        const forwards = await decision({ tools: [cell], rules: given, mode: chosen }, value)
        const backwards = await decision(
          { tools: [cell], rules: { [source]: [...given].reverse() }, mode: chosen },
          value,
        )
        expect(backwards).toBe(forwards)
      }),
      { numRuns: 300 },
    )
  })

  it('the order of hooks changes nothing, and a hook that denies or throws always denies', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { maxLength: 5 }), input, mode, async (answers, value, chosen) => {
        const hooks = answers.map((each) => hook(each))
        const forwards = await decision({ tools: [cell], hooks, mode: chosen }, value)
        expect(await decision({ tools: [cell], hooks: [...hooks].reverse(), mode: chosen }, value)).toBe(forwards)
        if (answers.some((each) => typeof each === 'function' || each?.decision === 'deny'))
          expect(forwards).toBe('deny')
      }),
      { numRuns: 300 },
    )
  })

  it('the gate judges every edit again: an edited input gets no more than an original one', async () => {
    await fc.assert(
      fc.asyncProperty(input, input, rules, mode, async (first, second, given, chosen) => {
        const edit = hook((event) =>
          JSON.stringify(event.input) === JSON.stringify(second) ? {} : { updatedInput: second },
        )
        const edited = await decision({ tools: [cell], rules: given, mode: chosen, hooks: [edit] }, first)
        const direct = await decision({ tools: [cell], rules: given, mode: chosen }, second)
        // The first input may be refused by itself; otherwise the second decides as if it had been the first.
        expect([direct, 'deny']).toContain(edited)
      }),
      { numRuns: 300 },
    )
  })

  it('a permit fits only the call that was decided', async () => {
    await fc.assert(
      fc.asyncProperty(input, fc.jsonValue(), async (value, other) => {
        const evaluation = await gateWith({ tools: [cell], mode: 'bypass' }).decide(callOf(value))
        if (evaluation.kind !== 'permitted') return
        const use = { tool: 'tool', policyHash: cell.policyHash, now: NOW }
        expect(checkPermit(evaluation.permit, { ...use, arguments: other }).kind).toBe('refused')
        expect(checkPermit(evaluation.permit, { ...use, arguments: JSON.parse(JSON.stringify(value)) }).kind).toBe(
          'valid',
        )
      }),
    )
  })
})

const odd = fc.string({
  unit: fc.constantFrom(
    '/',
    '..',
    '.',
    '~',
    '%2e',
    '%2f',
    '%',
    'etc',
    'data',
    'out',
    'secret',
    'file:',
    '//',
    '\0',
    ' ',
    '\n',
    '\\',
    '@',
    ':',
    'https:',
    'evil.example',
    'api.example.org',
    '?',
    '#',
    '\u200b',
    'é',
    '=',
    '-',
    '--x=',
  ),
  maxLength: 12,
})
const anyText = fc.oneof(
  odd,
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.webUrl(),
  odd.map((text) => `/data/${text}`),
  odd.map((text) => `/out/../${text}`),
)

describe('for all strings', () => {
  it('the gate does not throw, and leaves a record', async () => {
    const gate = gateWith({
      tools: [files],
      rules: [{ effect: 'deny', command: 'rm', paths: ['/x'], hosts: ['*'], because: 'x' }],
    })
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anyText, fc.jsonValue(), fc.anything()),
        fc.constantFrom('path', 'command', 'x', '__proto__', 'constructor'),
        async (value, key) => {
          const { decision: record } = await gate.decide(
            callOf(Object.defineProperty({}, key, { value, enumerable: true })),
          )
          expect(record.decision_id).not.toBe('')
        },
      ),
      { numRuns: 1500 },
    )
  })

  it('an absolute path runs only if the policy grants it, in every reading', async () => {
    const gate = gateWith({ tools: [files] })
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const outcome = (await gate.decide(callOf({ text }))).decision.decision
        if (!runs(outcome)) return
        for (const reading of [text, text.trim(), decoded(text)]) {
          if (!reading.startsWith('/')) continue
          expect(
            isReadable(
              { read: files.boundary.read, write: files.boundary.write, presetRead: [] },
              parseAbsolutePath(reading),
            ),
          ).toBe(true)
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('a URL runs only if its host is granted, as a browser reads it', async () => {
    const gate = gateWith({ tools: [files] })
    const urlLike = fc
      .tuple(
        fc.constantFrom('http:', 'https:', 'HTTPS:', 'wss:', ' https:', 'ftp:'),
        fc.constantFrom('//', '/', '', '\\\\', '///'),
        odd,
      )
      .map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(fc.oneof(urlLike, fc.webUrl(), odd), async (text) => {
        if (!runs((await gate.decide(callOf({ text }))).decision.decision) || !URL.canParse(text)) return
        const { hostname, protocol } = new URL(text)
        if (['http:', 'https:', 'ws:', 'wss:', 'ftp:'].includes(protocol) && /^\s*[a-z]+:\S/i.test(text))
          expect(hostname).toBe('api.example.org')
      }),
      { numRuns: 3000 },
    )
  })

  it('a long one costs no more than its length', async () => {
    const gate = gateWith({ tools: [files] })
    for (const text of [
      ' '.repeat(300_000) + 'x',
      '%2e'.repeat(100_000),
      '../'.repeat(100_000),
      '/'.repeat(300_000),
      '$('.repeat(2000),
      '"'.repeat(100_000),
      'a'.repeat(1_000_000),
    ]) {
      await expect(gate.decide(callOf({ text, command: text }))).resolves.toBeDefined()
    }
  })
})

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
