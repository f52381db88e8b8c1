// Tools of one MCP server share its cell. Only the argument gate holds each of them to its own policy.
import { describe, expect, it } from 'vitest'

import type { ResolvePath } from '../../src/gate/index.js'
import { parseAbsolutePath, parsePolicy, resolvePolicy } from '../../src/policy/index.js'

import { HOME, WORKSPACE, decide, outcome, toolWith } from './stage.js'

const FILES: Readonly<Record<string, readonly string[]>> = {
  '': ['a', 'b', 'main.ts', 'pages', 'src'],
  '/a': ['f', 'x.txt'],
  '/b': ['f', 'dangling'],
  '/pages': ['today.md'],
}

const listFolder = (path: string) => FILES[path.slice(WORKSPACE.length)]

const exists = (path: string): boolean => {
  const at = path.lastIndexOf('/')
  return path === WORKSPACE || listFolder(path.slice(0, at))?.includes(path.slice(at + 1)) === true
}

const resolvePath: ResolvePath = (path) => {
  if (path.endsWith('/dangling')) return { kind: 'unknown', problem: 'it is a link that leads nowhere' }
  const normal = parseAbsolutePath(path)
  return {
    kind: 'object',
    path: normal,
    exists: exists(normal),
    parentExists: exists(normal.slice(0, normal.lastIndexOf('/'))),
  }
}

const boundaryOf = (policy: unknown) =>
  resolvePolicy(parsePolicy(policy, 'test'), { workspace: WORKSPACE, home: HOME, kind: 'mcp' })

const cell = {
  boundary: boundaryOf({ filesystem: { read: ['a/**', 'pages/**'], write: ['b/**'] }, network: ['api.example.org'] }),
  hasOtherPolicies: true,
}

const ofA = { kind: 'mcp', policy: { risk: 'low', filesystem: { read: ['a/**'] } } } as const

const decideFor = (policy: object, input: unknown) =>
  outcome({ tools: [toolWith({ ...ofA, ...policy, cell })], resolvePath, listFolder }, input)

describe('a tool that shares its cell is denied what only another policy grants:', () => {
  it.each([
    'b/f',
    'b/new.txt',
    'b/deep/er/new.txt',
    'b//new.txt',
    ' b/new.txt',
    'b%2Fnew.txt',
    '--out=b/new.txt',
    'b/dangling',
    'b/*',
    'b/?',
    '[b]/f',
    '*/f',
    '{a,b}/f',
    'a/{x,../../b/f}',
    '$PWD/b/f',
    '${PWD}/b/new.txt',
    '$HOME/project/b/f',
    '$ELSEWHERE/f',
    '@b/f',
    '@b/new.txt',
    '@/etc/passwd',
    '@@b/f',
    '"b/new.txt"',
    "'b/new.txt'",
    'file=b/new.txt',
    '~+/b/f',
    '$(pwd)/b/f',
    '`pwd`/b/f',
    '"$PWD/b/f"',
    '@$PWD/b/f',
    'pages/*',
    'pages/new.md',
    'file:b/f',
    './b/new.txt',
  ])('%j', async (path) => {
    expect(await decideFor({}, { path })).toMatch(/^deny argument-/)
    expect(await decideFor({}, { deep: [{ list: [path] }] })).toMatch(/^deny argument-/)
    expect(await decideFor({ policy: { risk: 'low', filesystem: { write: ['**'] } } }, { path: 'b/f' })).toBe('allow')
  })

  it('a new file that is the key of a mapping', async () => {
    expect(await decideFor({}, { files: { 'b/new.txt': 'content' } })).toBe('deny argument-path-denied')
    expect(await decideFor({}, { files: { 'a/new.txt': 'content', 'main.ts': 'a word' } })).toBe('allow')
  })

  it('one word of many', async () => {
    const words = Array.from({ length: 200 }, (_, at) => `word ${String(at)}`)
    expect(await decideFor({}, { words: [...words, 'b/new.txt'] })).toBe('deny argument-path-denied')
    expect(await decideFor({}, { words })).toBe('allow')
  })

  it.each(['https://api.example.org/', 'https://evil.example/', 'https:evil.example'])('the URL %s', async (url) => {
    expect(await decideFor({}, { url })).toMatch(/^deny argument-/)
    const policy = { risk: 'low', network: ['api.example.org'], egress_class: 'read_only' }
    expect(await decideFor({ policy }, { url: 'https://api.example.org/' })).toBe('allow')
  })

  it('every path, if its policy omits files', async () => {
    const policy = { risk: 'low', network: ['api.example.org'], egress_class: 'read_only' }
    for (const path of ['/srv/x', 'a/f', 'b/new.txt'])
      expect(await decideFor({ policy }, { path })).toBe('deny argument-path-denied')
    expect(await decideFor({ policy }, { query: 'a word', type: 'application/json' })).toBe('allow')
  })
})

describe('a tool that shares its cell may still be given', () => {
  it.each([
    'a/f',
    'a/new.txt',
    'a/*',
    '@a/f',
    '$PWD/a/f',
    '{a,a}/f',
    'hello',
    'and/or',
    'application/json',
    'tcp/ip',
    '@scope/package',
    '"and/or"',
    "'a/f'",
    'file=a/new.txt',
    '~+/a/f',
    'type=text/plain',
    'a = b',
    '@types/node',
    'someone@example.org',
    '$5/month',
    'costs $HOME/month',
    '*.ts',
    '**/*.ts',
    '**',
    '*',
    'a*b',
    '^b/.*$',
    'new.txt',
    '{"name": "b/new.txt", "other": "x/y"}',
    'See b/new.txt for more',
    `b/${'a long text without an end '.repeat(30)}`,
    'src/new.ts, which no policy of this cell grants',
  ])('%j', async (text) => {
    expect(await decideFor({}, { text })).toBe('allow')
  })
})

it('a denial says what the model can do', async () => {
  const tools = [toolWith({ ...ofA, cell })]
  const { decision } = await decide({ tools, resolvePath, listFolder }, { path: 'b/new.txt' })
  expect(decision.agent_reason).toContain('If it is text and not a path, begin it with another word.')
})

describe('a tool whose cell has no other policy of a tool', () => {
  const alone = (grants: unknown) => ({ boundary: boundaryOf(grants), hasOtherPolicies: false })

  it('has no stance on hosts where the cell reaches none', async () => {
    const tool = (grants: unknown) => [toolWith({ ...ofA, cell: alone(grants) })]
    const files = { filesystem: { read: ['a/**', '/opt/server/**'] } }
    expect(await outcome({ tools: tool(files), resolvePath }, { note: 'https://example.org/' })).toBe('allow')
    const withNetwork = { ...files, network: ['api.example.org'] }
    expect(await outcome({ tools: tool(withNetwork), resolvePath }, { note: 'https://example.org/' })).toBe(
      'deny argument-url-denied',
    )
  })

  it('is denied a new file that the command line lets the cell write', async () => {
    const tools = [toolWith({ ...ofA, cell: alone({ filesystem: { read: ['a/**'], write: ['b/**'] } }) })]
    expect(await outcome({ tools, resolvePath }, { path: 'b/new.txt' })).toBe('deny argument-path-denied')
    const narrow = [toolWith({ ...ofA, cell: alone({ filesystem: { read: ['a/**'] } }) })]
    expect(await outcome({ tools: narrow, resolvePath }, { path: 'b/new.txt' })).toBe('allow')
  })
})
