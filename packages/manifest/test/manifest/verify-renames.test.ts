import { describe, expect, it } from 'vitest'

import type { ManifestRule, ManifestTool } from 'cordon/manifest'

import { aTool, anAgent, findingsOf, hashNumber, idsOf, manifestWith, wordsOf } from './manifests.js'

const withTools = (...tools: readonly ManifestTool[]) => manifestWith(anAgent({ tools }))
const READS = { filesystem: { read: ['/a/**', '/b/**'] } }

describe('a tool with another name', () => {
  it.each<[string, ManifestTool, ManifestTool]>([
    ['the same code', aTool(READS), aTool(READS, { name: 'summary', input: hashNumber(9) })],
    ['the same input and rights', aTool(READS), aTool(READS, { name: 'summary', code: hashNumber(9) })],
    [
      'the same rights, if nothing else is known',
      aTool(READS, { code: null, input: null }),
      aTool(READS, { name: 'summary', code: null, input: null }),
    ],
    [
      'the same input and similar rights',
      aTool(READS),
      aTool({ filesystem: { read: ['/a/**'] } }, { name: 'summary', code: hashNumber(9) }),
    ],
  ])('is the same tool if it has %s', (_, before, after) => {
    expect(idsOf(withTools(before), withTools(after))).toEqual([])
  })

  it('is compared with its former self', () => {
    const wider = aTool({ filesystem: { read: ['/a/**', '/b/**', '/c/**'] } }, { name: 'summary' })
    const findings = findingsOf(withTools(aTool(READS)), withTools(wider))
    expect(findings.map((finding) => [finding.id, wordsOf(finding)])).toEqual([
      ['tool.filesystem.read.widened', 'summary (before: report) can now read /c/x'],
    ])
  })

  it.each<[string, ManifestTool]>([
    ['its input and rights differ', aTool({ exec: ['sh'] }, { name: 'summary', code: hashNumber(9) })],
    ['its code and input differ', aTool(READS, { name: 'summary', code: hashNumber(8), input: hashNumber(9) })],
  ])('is a new tool if %s', (_, after) => {
    expect(idsOf(withTools(aTool(READS)), withTools(after))).toEqual(['tool.added'])
  })

  it('is a new tool if two former ones fit', () => {
    const twin = (name: string) => aTool(READS, { name })
    expect(idsOf(withTools(twin('one'), twin('two')), withTools(twin('three')))).toEqual(['tool.added'])
  })

  it('takes its rules along, or loses them', () => {
    const rule = (tool: string): ManifestRule => ({
      id: 'no-force',
      effect: 'deny',
      from: 'project',
      because: 'test',
      conditions: { tool, arguments: { force: true } },
    })
    const ruled = (name: string, tool: string) =>
      manifestWith(anAgent({ tools: [aTool(READS, { name })], rules: [rule(tool)] }))
    expect(idsOf(ruled('report', 'report'), ruled('summary', 'report'))).toEqual(['rule.removed'])
    expect(idsOf(ruled('report', 'report'), ruled('summary', 'summary'))).toEqual([])
    expect(idsOf(ruled('report', 'rep*'), ruled('summary', 'rep*'))).toEqual(['rule.removed'])
    expect(idsOf(ruled('report', '*r*'), ruled('summary', '*r*'))).toEqual([])
  })

  it('keeps the tools that have to run after it', () => {
    const after = (name: string) =>
      aTool({}, { name: 'send', code: null, input: null, constraints: { only_after: [name], forbidden: false } })
    const before = withTools(aTool(READS), after('report'))
    expect(idsOf(before, withTools(aTool(READS, { name: 'summary' }), after('summary')))).toEqual([])
    expect(idsOf(before, withTools(aTool(READS, { name: 'summary' }), after('other')))).toEqual([
      'tool.constraint.loosened',
    ])
  })
})

describe('an agent with another name', () => {
  const tool = (name: string, number: number) =>
    aTool(READS, { name, code: hashNumber(number), input: hashNumber(number) })
  const [one, two, three] = [tool('one', 11), tool('two', 12), tool('three', 13)]

  it('is recognised by its tools, and compared', () => {
    const before = manifestWith(anAgent({ tools: [one, two] }))
    expect(idsOf(before, manifestWith(anAgent({ name: 'other', tools: [one, two] })))).toEqual([])
    const more = anAgent({ name: 'other', tools: [one, two, three], mode: 'bypass' })
    expect([...idsOf(before, manifestWith(more))].sort()).toEqual(['mode.loosened', 'tool.added'])
  })

  it('is a new agent if two former ones fit', () => {
    const before = manifestWith(anAgent({ tools: [one] }), anAgent({ name: 'second', tools: [one] }))
    expect(idsOf(before, manifestWith(anAgent({ name: 'other', tools: [one] })))).toEqual(['tool.added'])
  })
})
