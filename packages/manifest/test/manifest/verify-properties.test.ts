// For random manifests: what is the same or narrower is silent, and one added grant is one finding.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Manifest, ManifestAgent, ManifestTool } from 'cordon/manifest'
import type { PolicyInput } from 'cordon/policy'

import { aTool, anAgent, findingsOf, hashNumber, idsOf, manifestWith } from './manifests.js'

/** Every section as a list, so that each can be narrowed and widened by one entry. */
interface Lists {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly carved: readonly string[]
  readonly hosts: readonly string[]
  readonly variables: readonly string[]
  readonly programs: readonly string[]
  readonly wall: number
}

const some = <Value>(...values: readonly Value[]) => fc.uniqueArray(fc.constantFrom(...values), { maxLength: 3 })

const lists: fc.Arbitrary<Lists> = fc.record({
  read: some('/r/a', '/r/b/**', './src/**', '~/notes', '/r/{c,d}/*.txt'),
  write: some('/w/a', '/w/b/**', './out', '~/.cache/x'),
  carved: some('/r/b/secret', './src/**/*.key', '/r/a/x'),
  hosts: some('a.example', '*.b.example', 'c.example:8443'),
  variables: some('LANG', 'HOME_PAGE', 'TZ=UTC'),
  programs: some('git', 'sh', '/usr/bin/env'),
  wall: fc.integer({ min: 1, max: 60 }),
})

const policyOf = ({ read, write, carved, hosts, variables, programs, wall }: Lists): PolicyInput => ({
  filesystem: { read: [...read, ...carved.map((path) => `!${path}`)], write },
  network: hosts,
  environment: variables,
  exec: programs,
  limits: { wall: `${String(wall)}s` },
})

const kinds = fc.constantFrom<ManifestTool['kind']>('process', 'function', 'mcp', 'in-process')

/** The tools of one agent: name and number fit, so no two have the same code. */
const tools = fc.array(fc.tuple(lists, kinds), { minLength: 1, maxLength: 4 })

const manifestOfTools = (
  all: readonly (readonly [Lists, ManifestTool['kind']])[],
  more: Partial<ManifestAgent> = {},
): Manifest =>
  manifestWith(
    anAgent({
      tools: all.map(([each, kind], at) =>
        aTool(policyOf(each), { name: `tool-${String(at)}`, kind, code: hashNumber(at), input: hashNumber(100 + at) }),
      ),
      ...more,
    }),
  )

const without = (items: readonly string[], at: number): readonly string[] =>
  items.filter((_, index) => index !== at % 4)

const narrowed = (given: Lists, section: keyof Lists, at: number): Lists => {
  switch (section) {
    case 'wall':
      return { ...given, wall: Math.max(1, given.wall - at) }
    case 'carved':
      return { ...given, carved: [...new Set([...given.carved, '/r/b/more', './src/x'])] }
    default:
      return { ...given, [section]: without(given[section], at) }
  }
}

const SECTIONS = ['read', 'write', 'carved', 'hosts', 'variables', 'programs', 'wall'] as const

/** One more entry, which no other entry covers. */
const WIDER: Readonly<Record<Exclude<keyof Lists, 'carved'>, readonly [(given: Lists) => Lists, string]>> = {
  read: [(given) => ({ ...given, read: [...given.read, '/new/read'] }), 'tool.filesystem.read.widened'],
  write: [(given) => ({ ...given, write: [...given.write, '/new/write'] }), 'tool.filesystem.write.widened'],
  hosts: [(given) => ({ ...given, hosts: [...given.hosts, 'new.example'] }), 'tool.network.widened'],
  variables: [(given) => ({ ...given, variables: [...given.variables, 'NEW'] }), 'tool.environment.widened'],
  programs: [(given) => ({ ...given, programs: [...given.programs, 'new-program'] }), 'tool.exec.widened'],
  wall: [(given) => ({ ...given, wall: given.wall + 1 }), 'tool.limit.raised'],
}

describe('for any manifest', () => {
  it('the same manifest is silent', () => {
    fc.assert(
      fc.property(tools, (all) => {
        expect(findingsOf(manifestOfTools(all), manifestOfTools(all))).toEqual([])
      }),
    )
  })

  it('another order of agents, tools and grants is silent', () => {
    fc.assert(
      fc.property(tools, tools, (one, other) => {
        const reversed = (manifest: Manifest): readonly ManifestAgent[] =>
          manifest.agents.map((agent) => ({ ...agent, tools: agent.tools.toReversed() })).reverse()
        const both = [...manifestOfTools(one).agents, ...manifestOfTools(other, { name: 'second' }).agents]
        const before = manifestWith(...both)
        expect(findingsOf(before, manifestWith(...reversed(before)))).toEqual([])
      }),
    )
  })

  it('a narrower manifest is silent', () => {
    fc.assert(
      fc.property(tools, fc.constantFrom(...SECTIONS), fc.nat(9), (all, section, at) => {
        const narrower = all.map(([each, kind]) => [narrowed(each, section, at), kind] as const)
        expect(idsOf(manifestOfTools(all), manifestOfTools(narrower))).toEqual([])
        expect(idsOf(manifestOfTools(all), manifestOfTools(all.slice(0, -1)))).toEqual([])
      }),
    )
  })

  it('one more grant is exactly its finding, of exactly its tool', () => {
    const sections = Object.keys(WIDER) as readonly (keyof typeof WIDER)[]
    fc.assert(
      fc.property(tools, fc.constantFrom(...sections), fc.nat(), (all, section, number) => {
        const index = number % all.length
        const [widen, id] = WIDER[section]
        const wider = all.map(([each, kind], at) => [at === index ? widen(each) : each, kind] as const)
        expect(findingsOf(manifestOfTools(all), manifestOfTools(wider))).toMatchObject([
          { id, tool: `tool-${String(index)}` },
        ])
      }),
    )
  })
})
