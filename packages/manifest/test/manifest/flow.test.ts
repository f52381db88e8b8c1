import { expect, test } from 'vitest'

import type { Manifest, ManifestTool } from 'cordon/manifest'
import { isNewOrGrown } from '../../src/flow/grown-flow.js'
import { exfiltrations } from '@cordon/manifest'
import { agentOf, manifestWith, serverOf, toolOf } from './agents.js'

const files = (read: readonly string[]): ManifestTool => toolOf('files', { filesystem: { read } })
const fetcher = toolOf('fetch', { network: [{ host: 'api.test', methods: ['GET'] }] })

const pathsOf = (manifest: Manifest) => exfiltrations(manifest).map(({ path }) => path.parts.map(({ name }) => name))
const PATH = [['files', 'fetch']]

/** Each break beside something similar that breaks nothing. */
test.each([
  ['public files', { public: ['./docs/**'] }, { public: ['./docs/a/**'] }],
  ['an own host', { own: ['api.test'] }, { own: ['other.test'] }],
  ['trusted hosts and files', { trusted: ['api.test', './docs/**'] }, { trusted: ['api.test'] }],
])('a tag breaks a path only if it covers all of it: %s', (_, whole, part) => {
  const agent = agentOf('main', [files(['docs/**']), fetcher])
  expect(pathsOf(manifestWith([agent], whole))).toEqual([])
  expect(pathsOf(manifestWith([agent], part))).toEqual(PATH)
})

test('a narrower policy breaks a path', () => {
  const tags = { public: ['./docs/**'] }
  expect(pathsOf(manifestWith([agentOf('main', [files(['docs/**']), fetcher])], tags))).toEqual([])
  expect(pathsOf(manifestWith([agentOf('main', [files(['.', '!src']), fetcher])], tags))).toEqual(PATH)
})

const ALLOWS = { id: 'r', effect: 'allow', from: 'project', because: 'x' } as const

test.each([
  ['no rule', [], []],
  ['a rule that allows some calls of it', [{ ...ALLOWS, conditions: { tool: 'fe*', arguments: { a: 'b' } } }], PATH],
  ['a rule about another tool', [{ ...ALLOWS, conditions: { tool: 'files' } }], []],
  [
    'a rule that allows some calls, and one that asks about all',
    [
      { ...ALLOWS, conditions: { arguments: { a: 'b' } } },
      { ...ALLOWS, id: 's', effect: 'ask' as const, conditions: { tool: ['fetch'] } },
    ],
    [],
  ],
])('approval of every sink call breaks a path: %s', (_, rules, expected) => {
  const agent = agentOf('main', [files(['docs']), { ...fetcher, approval: 'ask' }], { rules })
  expect(pathsOf(manifestWith([agent]))).toEqual(expected)
})

test('a tool that is never called is part of no path', () => {
  const never = { only_after: [], forbidden: true }
  expect(pathsOf(manifestWith([agentOf('main', [files(['docs']), { ...fetcher, constraints: never }])]))).toEqual([])
  expect(pathsOf(manifestWith([agentOf('main', [files(['docs']), { ...fetcher, approval: 'deny' }])]))).toEqual([])
})

test('one tool of a server that runs without approval opens the whole server', () => {
  const server = (approvals: readonly ('ask' | 'allow')[]) =>
    serverOf(
      'web',
      { network: ['api.test'], environment: ['TOKEN'] },
      { tools: approvals.map((approval, at) => toolOf(`t${String(at)}`, {}, { kind: 'mcp', approval })) },
    )
  const found = (approvals: readonly ('ask' | 'allow')[]) =>
    pathsOf(manifestWith([agentOf('main', [], { mcp_servers: [server(approvals)] })]))
  expect(found(['ask', 'allow'])).toEqual([['web']])
  expect(found(['ask', 'ask'])).toEqual([])
})

test('a remote server is a sink at its own address', () => {
  const agent = agentOf('main', [files(['docs'])], {
    mcp_servers: [serverOf('far', {}, { url: 'https://far.test/mcp' })],
  })
  expect(pathsOf(manifestWith([agent]))).toEqual([['files', 'far']])
  expect(pathsOf(manifestWith([agent], { own: ['far.test'] }))).toEqual([])
})

test('libraries of the system are neither private nor untrusted, other absolute paths are', () => {
  expect(pathsOf(manifestWith([agentOf('main', [files(['/usr/share/zoneinfo']), fetcher])]))).toEqual([])
  expect(pathsOf(manifestWith([agentOf('main', [files(['/srv/data']), fetcher])]))).toEqual(PATH)
})

test('a set variable is no private data, one of the host is', () => {
  const withVariable = (entry: string) => [toolOf('files', { environment: [entry] }), fetcher]
  expect(pathsOf(manifestWith([agentOf('main', withVariable('A=sha256:0'))]))).toEqual([])
  expect(pathsOf(manifestWith([agentOf('main', withVariable('A'))]))).toEqual(PATH)
})

test('only a new path or a grown set counts for a comparison', () => {
  const [first] = exfiltrations(manifestWith([agentOf('main', [files(['docs']), fetcher])]))
  const [more] = exfiltrations(
    manifestWith([agentOf('main', [files(['docs']), fetcher, { ...fetcher, name: 'post' }])]),
  )
  if (first === undefined || more === undefined) throw new Error('there is no path')
  const same = (name: string) => name
  expect(isNewOrGrown(undefined, first, same)).toBe(true)
  expect(isNewOrGrown(first, first, same)).toBe(false)
  expect(isNewOrGrown(first, more, same)).toBe(true)
  expect(isNewOrGrown(more, first, same)).toBe(false)
})

test('a tag that is neither a file nor a host is refused', () => {
  expect(() => pathsOf(manifestWith([], { trusted: ['docs/**'] }))).toThrow('write a file as ./NAME')
})
