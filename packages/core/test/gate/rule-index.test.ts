// The index of rules finds every rule that matches a call, without comparing all of them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { parseRules, readArgv, readCommand } from '../../src/gate/index.js'
import type { RuleFacts } from '../../src/gate/call-facts.js'
import { readUrl } from '../../src/gate/arguments/url-spelling.js'
import type { JsonValue, UrlTarget } from '../../src/gate/index.js'
import { indexRules } from '../../src/gate/rules/rule-index.js'
import { matcherOf } from '../../src/gate/rules/conditions.js'
import { parseAbsolutePath } from '../../src/policy/index.js'

const PLACES = { workspace: parseAbsolutePath('/srv/project'), home: parseAbsolutePath('/home/ann') }

const word = fc.constantFrom('git', 'push', 'pull', 'origin', 'main', 'feature', '--force', 'rm', '/bin/rm', 'a')
const pattern = fc
  .array(fc.oneof(word, fc.constantFrom('*', '?', '-', 'ai', 'eat')), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(''))
const commandPattern = fc
  .array(fc.oneof({ weight: 3, arbitrary: word }, pattern, fc.constant('**')), { minLength: 1, maxLength: 4 })
  .map((words) => words.join(' '))
const value = fc.oneof(pattern, fc.constantFrom(1, 0, true, false, null))
const host = fc.constantFrom(
  '*',
  'a.test',
  '*.a.test',
  '10.0.0.1',
  '10.0.0.0/8',
  '10.0.0.0/24',
  '[::1]',
  '::/0',
  '0.0.0.0/0',
)
const address = fc.constantFrom('a.test', 'b.a.test', '10.0.0.1', '10.1.0.1', '[::1]', '127.0.0.1')
const urlOf = (name: string): readonly UrlTarget[] => {
  const read = readUrl(`https://${name}/`, true)
  return read.kind === 'url' ? [read.target] : []
}
const conditions = {
  hosts: fc.array(host, { minLength: 1, maxLength: 2 }),
  tool: fc.array(pattern, { minLength: 1, maxLength: 2 }),
  command: fc.array(commandPattern, { minLength: 1, maxLength: 2 }),
  arguments: fc.dictionary(
    fc.constantFrom('a', 'b', 'a.b', '*', 'a.*'),
    fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 2 })),
    { minKeys: 1, maxKeys: 2 },
  ),
}
const { hosts, tool, command, arguments: given } = conditions
const rule = fc
  .oneof(
    ...[fc.record({ hosts }), fc.record({ tool }), fc.record({ command }), fc.record({ arguments: given })],
    fc.record(conditions, { requiredKeys: [] }),
  )
  .chain((condition) => fc.constantFrom('deny', 'allow').map((effect) => ({ effect, because: 'x', ...condition })))
  // An allow about everything is refused.
  .filter((each) => {
    try {
      return parseRules([each], 'test', { source: 'session', places: PLACES }).rules.length === 1
    } catch {
      return false
    }
  })
const text = fc.array(word, { maxLength: 3 }).map((parts) => parts.join(''))
const leaf: fc.Arbitrary<JsonValue> = fc.oneof(text, fc.constantFrom(1, 0, true, false, null))
const item = fc.oneof(leaf, fc.array(leaf, { maxLength: 2 }), fc.dictionary(fc.constantFrom('b', 'c'), leaf))
const input: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), item),
  fc.array(leaf, { maxLength: 2 }),
)
const line = fc.array(fc.oneof(word, fc.constantFrom('$x', ';', 'sudo', 'env')), { minLength: 1, maxLength: 5 })
const facts: fc.Arbitrary<RuleFacts> = fc
  .record({
    tool: text,
    input,
    line,
    isShell: fc.boolean(),
    runs: fc.boolean(),
    hosts: fc.array(address, { maxLength: 2 }),
  })
  .map(({ tool, input: given, line: words, isShell, runs, hosts }) => ({
    tool,
    input: given,
    paths: [],
    suspectedUrls: [],
    folded: [],
    urls: hosts.flatMap(urlOf),
    commands: runs ? [isShell ? readCommand(words.join(' ')) : readArgv(words)] : [],
  }))

/** Calls `count` whenever a pattern or an address of the rule is compared. */
const countingMatches = <Part>(part: Part, count: () => void): Part => {
  if (Array.isArray(part)) return part.map((each: unknown) => countingMatches(each, count)) as Part
  if (typeof part !== 'object' || part === null) return part
  if ('destination' in part) {
    const { destination } = part
    const read = (): unknown => {
      count()
      return destination
    }
    return Object.defineProperty({ ...part }, 'destination', { get: read })
  }
  return Object.fromEntries(
    Object.entries(part).map(([key, value]: [string, unknown]) => [
      key,
      key === 'matches'
        ? (candidate: string): boolean => {
            count()
            return (value as (text: string) => boolean)(candidate)
          }
        : countingMatches(value, count),
    ]),
  ) as Part
}

describe('an index of rules', () => {
  it('finds the same rules as a comparison with each of them', () => {
    let matched = 0
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 12 }),
        fc.array(facts, { minLength: 1, maxLength: 6 }),
        (rules, calls) => {
          const set = parseRules(rules, 'test', { source: 'session', places: PLACES })
          const index = indexRules([set])
          for (const call of calls) {
            const { deciding, overruled } = index.judge(call)
            const expected = set.rules.filter((each) => matcherOf(each)(call))
            matched += expected.length
            expect(new Set([...deciding, ...overruled])).toEqual(new Set(expected))
          }
        },
      ),
      { numRuns: 800 },
    )
    // Usually about 1,000. An index that nothing matches would prove nothing.
    expect(matched).toBeGreaterThan(500)
  })

  it.each([
    ['argument wildcards', (at: number) => ({ arguments: { branch: `*-${String(at)}-x*` } })],
    ['arguments of many names', (at: number) => ({ arguments: { [`key${String(at)}`]: 'x' } })],
    ['second command words', (at: number) => ({ command: `git push-${String(at)} **` })],
    ['later command words', (at: number) => ({ command: `git ** feature-${String(at)}` })],
    ['addresses', (at: number) => ({ hosts: [`10.${String(at >> 8)}.${String(at & 255)}.0/24`] })],
    ['tool patterns', (at: number) => ({ tool: `*-tool-${String(at)}-*` })],
  ])('compares a call with few of 3,000 rules: %s', (_, conditionOf) => {
    const rules = Array.from({ length: 3_000 }, (__, at) => ({ effect: 'deny', because: 'x', ...conditionOf(at) }))
    const set = parseRules(rules, 'test', { source: 'session', places: PLACES })
    let compared = 0
    const watched = set.rules.map((each) =>
      countingMatches(each, () => {
        compared += 1
      }),
    )
    const index = indexRules([{ ...set, rules: watched }])
    compared = 0
    const { deciding } = index.judge({
      paths: [],
      suspectedUrls: [],
      folded: [],
      urls: urlOf('10.0.77.1'),
      tool: 'my-tool-77-here',
      input: { branch: 'my-77-xy', key77: 'x' },
      commands: [readArgv(['git', 'push-77', 'feature-77'])],
    })
    expect(deciding.map(({ place }) => place)).toHaveLength(1)
    expect(compared).toBeGreaterThan(0)
    expect(compared).toBeLessThan(100)
  })
})
