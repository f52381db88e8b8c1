import { describe, expect, it } from 'vitest'

import { FINDING_IDS, manifestOf } from 'cordon/manifest'
import type { Manifest, ManifestAgent, ManifestRule, ManifestTool } from 'cordon/manifest'
import type { PolicyInput } from 'cordon/policy'

import {
  aServer,
  aTool,
  anAgent,
  betweenTools,
  findingsOf,
  idsOf,
  manifestWith,
  wordsOf,
  written,
} from './manifests.js'

const seen = new Set<string>()

/** The finding of a change. Its opposite narrows, and must be silent. */
const onlyFinding = (before: Manifest, after: Manifest): readonly [string, string] => {
  const [finding, ...others] = findingsOf(before, after)
  expect(others.map(({ id }) => id)).toEqual([])
  if (finding === undefined) throw new Error('there is no finding')
  seen.add(finding.id)
  expect(idsOf(after, before)).toEqual([])
  return [finding.id, wordsOf(finding)]
}

const withTools = (...tools: readonly ManifestTool[]): Manifest => manifestWith(anAgent({ tools }))

const GITHUB: PolicyInput = {
  network: ['api.example.com'],
  egress_class: 'read_only',
  credentials: [{ id: 'github-token', inject: { host: 'api.example.com', header: 'authorization' } }],
}

describe('a policy that widens is one finding, and one that narrows is none', () => {
  it.each<[string, PolicyInput, PolicyInput, string]>([
    [
      'tool.filesystem.write.widened',
      { filesystem: { write: ['./out'] } },
      { filesystem: { write: ['./out', '/etc/cron.d/x'] } },
      'report can now write /etc/cron.d/x',
    ],
    [
      'tool.filesystem.read.widened',
      { filesystem: { read: ['/a/b/**'] } },
      { filesystem: { read: ['/a/**'] } },
      'report can now read /a/b',
    ],
    [
      'tool.filesystem.read.widened',
      { filesystem: { read: ['./**', '!./.env'] } },
      { filesystem: { read: ['./**'] } },
      'report can now read ./.env',
    ],
    [
      'tool.network.widened',
      { network: [{ host: 'a.example', methods: ['GET'] }] },
      { network: [{ host: 'a.example', methods: ['GET', 'POST'] }] },
      'report can now POST to a.example',
    ],
    [
      'tool.network.widened',
      { network: ['*.example.org', { host: 'db.example.org', action: 'deny' }] },
      { network: ['*.example.org'] },
      'report can now GET to db.example.org',
    ],
    [
      'tool.environment.widened',
      { environment: ['LANG'] },
      { environment: ['LANG', 'TOKEN'] },
      'report now gets the variable TOKEN of the host',
    ],
    ['tool.exec.widened', { exec: ['git'] }, { exec: ['git', 'sh'] }, 'report can now start sh'],
    [
      'tool.limit.raised',
      { limits: { memory: '256M' } },
      { limits: { memory: '1G' } },
      'report now has 1G as limit memory, was 256M',
    ],
    ['tool.limit.raised', { limits: { wall: '30s' } }, {}, 'report now has no limit wall, was 30s'],
    ['tool.require.dropped', { require: ['landlock'] }, {}, 'report now runs without landlock'],
  ])('%s: %j, then %j', (id, before, after, sentence) => {
    expect(onlyFinding(withTools(aTool(before)), withTools(aTool(after)))).toEqual([id, sentence])
  })

  it('says with which credential a tool can send more requests', () => {
    const findings = betweenTools(aTool(GITHUB), aTool({ ...GITHUB, egress_class: 'write' }))
    for (const { id } of findings) seen.add(id)
    expect(findings.map((finding) => [finding.id, wordsOf(finding)])).toEqual([
      ['tool.network.widened', 'report can now POST to api.example.com'],
      ['tool.credential.widened', 'report can now POST to api.example.com with github-token'],
    ])
    expect(betweenTools(aTool({ ...GITHUB, egress_class: 'write' }), aTool(GITHUB))).toEqual([])
  })

  it('has one witness for each added grant, in one finding', () => {
    const [finding, ...others] = betweenTools(
      aTool({ filesystem: { read: ['/a'] } }),
      aTool({ filesystem: { read: ['/a', '/b', '/c'] } }),
    )
    expect(others).toEqual([])
    expect(finding?.witnesses).toMatchObject([{ path: '/b' }, { path: '/c' }])
  })

  it('does not see the order of grants, or a text that means the same', () => {
    const one = aTool({ filesystem: { read: ['/a/{b,c}', '/d'] }, exec: ['git', 'sh'] })
    const other = aTool({ filesystem: { read: ['/d', '/a/c', '/a/b'] }, exec: ['sh', 'git'] })
    expect(betweenTools(one, other)).toEqual([])
  })

  it('is silent if a section becomes omitted that a cell refuses either way', () => {
    expect(betweenTools(aTool({ network: 'none' }), aTool({}))).toEqual([])
  })

  it('sees a section that becomes omitted where no sandbox refuses it', () => {
    const none: PolicyInput = { filesystem: 'none', network: 'none', environment: 'none', exec: 'none' }
    const { network: _, ...open } = none
    const inProcess = { kind: 'in-process' } as const
    const findings = betweenTools(aTool(none, inProcess), aTool(open, inProcess))
    expect(findings.map(({ id }) => id)).toEqual(['tool.network.widened'])
    expect(betweenTools(aTool(open, inProcess), aTool(none, inProcess))).toEqual([])
  })
})

describe('a tool', () => {
  const none: PolicyInput = { filesystem: 'none', network: 'none', environment: 'none', exec: 'none' }

  it('whose code leaves the sandbox is a finding', () => {
    const [id, sentence] = onlyFinding(withTools(aTool(none)), withTools(aTool(none, { kind: 'in-process' })))
    expect([id, sentence]).toEqual([
      'tool.kind.weakened',
      "report now runs in the agent's own process, where no sandbox confines it",
    ])
  })

  it.each<[string, Partial<ManifestTool>, Partial<ManifestTool>, string]>([
    ['tool.risk.increased', { risk: 'low' }, { risk: 'high' }, 'report now has the risk high, was low'],
    ['tool.risk.increased', { risk: 'critical' }, { risk: 'unknown' }, 'report now has the risk unknown, was critical'],
    [
      'tool.approval.loosened',
      { approval: 'ask' },
      { approval: 'allow' },
      'report: Cordon now allows its calls without a question, where it asked about them',
    ],
    [
      'tool.approval.loosened',
      { approval: 'deny' },
      { approval: 'ask' },
      'report: Cordon now asks about its calls, where it denied them',
    ],
    [
      'tool.constraint.loosened',
      { constraints: { max_invocations: 1, only_after: [], forbidden: false } },
      { constraints: { max_invocations: 2, only_after: [], forbidden: false } },
      'report may now run 2 times, was 1',
    ],
    [
      'tool.constraint.loosened',
      { constraints: { max_invocations: 0, only_after: [], forbidden: false } },
      { constraints: { only_after: [], forbidden: false } },
      'report may now run any number of times, was 0',
    ],
    [
      'tool.constraint.loosened',
      { constraints: { only_after: ['check'], forbidden: false } },
      { constraints: { only_after: [], forbidden: false } },
      'report no longer has to run after check',
    ],
    [
      'tool.constraint.loosened',
      { constraints: { only_after: [], forbidden: true } },
      { constraints: { only_after: [], forbidden: false } },
      'report was forbidden to models, and is not any more',
    ],
    [
      'tool.constraint.loosened',
      { argument_gate: 'enforced' },
      { argument_gate: 'off' },
      'Arguments of report are no longer compared with its policy',
    ],
  ])('that is decided less strictly is a finding: %s', (id, before, after, sentence) => {
    expect(onlyFinding(withTools(aTool({}, before)), withTools(aTool({}, after)))).toEqual([id, sentence])
  })

  it('of a shared cell is a finding if the argument gate has no stance any more', () => {
    const mcp = { kind: 'mcp' } as const
    expect(onlyFinding(withTools(aTool({ network: 'none' }, mcp)), withTools(aTool({}, mcp)))).toEqual([
      'tool.constraint.loosened',
      'Arguments of report are no longer compared with network',
    ])
  })

  it('that is new is a finding, and one that is gone is not', () => {
    const before = withTools(aTool())
    const [id] = onlyFinding(before, withTools(aTool(), aTool({}, { name: 'list', code: null, input: null })))
    expect(id).toBe('tool.added')
  })

  it('that is new and of a high risk is another finding, with everything that it can do', () => {
    const fresh = aTool(
      { filesystem: { write: ['./out'] }, exec: ['sh'] },
      { name: 'deploy', risk: 'high', code: null, input: null },
    )
    const [finding, ...others] = findingsOf(withTools(), withTools(fresh))
    expect(others).toEqual([])
    if (finding !== undefined) seen.add(finding.id)
    expect(finding?.id).toBe('tool.added.high-risk')
    expect(finding?.witnesses).toMatchObject([
      { kind: 'exec', program: 'sh' },
      { kind: 'file', access: 'write', path: './out' },
    ])
  })

  it('that exists only at run time is new', () => {
    const dynamic = anAgent({ dynamic: ['agents/main.ts:40'] })
    expect(onlyFinding(manifestWith(anAgent()), manifestWith(dynamic))[0]).toBe('tool.added.high-risk')
  })

  it('that exists only at run time is silent on another line, and new if it is a second one', () => {
    const at = (...lines: readonly number[]) =>
      manifestWith(anAgent({ dynamic: lines.map((line) => `createCordon (agents/main.ts:${line})`) }))
    expect(idsOf(at(40), at(52))).toEqual([])
    expect(onlyFinding(at(40), at(52, 60))[0]).toBe('tool.added.high-risk')
  })

  it('whose code or place changed is silent', () => {
    const moved = aTool({}, { code: null, source: 'agents/other.ts:99' })
    expect(betweenTools(aTool(), moved)).toEqual([])
  })

  it('of another version of the registry is an information, which fails nothing', () => {
    const findings = betweenTools(aTool({}, { registry_version: 3 }), aTool({}, { registry_version: 4 }))
    for (const { id } of findings) seen.add(id)
    expect(findings.map(({ id, severity }) => [id, severity])).toEqual([['manifest.version.changed', 'info']])
  })
})

describe('an agent', () => {
  const between = (before: Partial<ManifestAgent>, after: Partial<ManifestAgent>) =>
    onlyFinding(manifestWith(anAgent(before)), manifestWith(anAgent(after)))

  it('in a milder mode is a finding', () => {
    expect(between({ mode: 'untrusted' }, { mode: 'default' })).toEqual([
      'mode.loosened',
      'The mode is now default, was untrusted. A call that no rule matches needed a person, and now runs without a ' +
        'question',
    ])
  })

  it('is found milder in both directions if each of two modes runs calls that the other does not', () => {
    const modes = (mode: ManifestAgent['mode']) => manifestWith(anAgent({ mode }))
    expect(idsOf(modes('plan'), modes('untrusted'))).toEqual(['mode.loosened'])
    expect(idsOf(modes('untrusted'), modes('plan'))).toEqual(['mode.loosened'])
  })

  it.each([
    [{ tool_calls: 8 }, { tool_calls: 9 }, 'The budget tool_calls is now 9, was 8'],
    [{ duration: 1000 }, {}, 'The budget duration is gone, was 1000'],
  ])('with a higher budget is a finding: %j, then %j', (before, after, sentence) => {
    expect(between({ budget: before }, { budget: after })).toEqual(['budget.raised', sentence])
  })

  it('whose credential has another source is a finding', () => {
    const before = manifestWith(anAgent({ credentials: { gh: 'env:READ_TOKEN' } }))
    const after = manifestWith(anAgent({ credentials: { gh: 'env:ADMIN_TOKEN' } }))
    expect(findingsOf(before, after).map(wordsOf)).toEqual([
      'The credential gh now comes from env:ADMIN_TOKEN, was env:READ_TOKEN',
    ])
    expect(findingsOf(before, manifestWith(anAgent({ credentials: {} })))).toEqual([])
  })

  it('whose workspace moved is a finding, whatever its policies say', () => {
    const moved = manifestWith(anAgent({ workspace: '..' }))
    expect(findingsOf(manifestWith(anAgent()), moved).map(wordsOf)).toEqual([
      'Paths that begin with ./ are now in .., were in ., for all tools of main',
    ])
    expect(findingsOf(moved, moved)).toEqual([])
  })

  it('that is new has new tools, and is compared with the default mode', () => {
    const tool = aTool({}, { name: 'other' })
    const after = manifestWith(anAgent(), anAgent({ name: 'second', mode: 'bypass', tools: [tool] }))
    expect([...idsOf(manifestWith(anAgent()), after)].sort()).toEqual(['mode.loosened', 'tool.added'])
  })

  it('that gets a tool of another agent has a new tool', () => {
    const before = manifestWith(anAgent({ tools: [aTool()] }), anAgent({ name: 'second' }))
    const after = manifestWith(anAgent(), anAgent({ name: 'second', tools: [aTool()] }))
    expect(findingsOf(before, after)).toMatchObject([{ id: 'tool.added', agent: 'second', tool: 'report' }])
  })
})

describe('a rule', () => {
  const rule = (effect: ManifestRule['effect'], conditions: ManifestRule['conditions'], id = 'r1'): ManifestRule => ({
    id,
    effect,
    from: 'project',
    because: 'test',
    conditions,
  })
  const ruled = (...rules: readonly ManifestRule[]) => manifestWith(anAgent({ rules }))
  const push = { tool: 'sh', command: ['git push **'] }

  it.each<[string, readonly ManifestRule[], readonly ManifestRule[]]>([
    ['is gone', [rule('deny', push)], []],
    ['asks instead of denying', [rule('deny', push)], [rule('ask', push)]],
    ['matches another tool', [rule('deny', { tool: ['a', 'b'] })], [rule('deny', { tool: ['a'] })]],
    ['has one condition more', [rule('ask', { tool: 'sh' })], [rule('ask', push)]],
    ['has an exception', [rule('deny', { paths: ['/a/**'] })], [rule('deny', { paths: ['/a/**', '!/a/b'] })]],
    [
      'needs one argument more',
      [rule('deny', { arguments: { force: true } })],
      [rule('deny', { arguments: { force: true, branch: 'main' } })],
    ],
    ['is about writing only', [rule('deny', { paths: ['/a'] })], [rule('deny', { paths: { write: ['/a'] } })]],
  ])('that %s is a finding, and the opposite is none', (_, before, after) => {
    expect(onlyFinding(ruled(...before), ruled(...after))[0]).toBe('rule.removed')
  })

  it.each<[string, readonly ManifestRule[], readonly ManifestRule[]]>([
    ['new', [], [rule('allow', push)]],
    [
      'matches more',
      [rule('allow', { tool: 'sh', command: ['ls'] })],
      [rule('allow', { tool: 'sh', command: ['ls', 'rm'] })],
    ],
  ])('that allows and is %s is a finding, and the opposite is none', (_, before, after) => {
    expect(onlyFinding(ruled(...before), ruled(...after))[0]).toBe('tool.approval.loosened')
  })

  it('may have another order, id and reason', () => {
    const [one, two] = [rule('deny', push, 'one'), rule('ask', { tool: ['x', 'y'] }, 'two')]
    const other = [
      { ...rule('ask', { tool: ['y', 'x'] }, 'three'), because: 'other' },
      { ...one, id: 'four' },
    ]
    expect(idsOf(ruled(one, two), ruled(...other))).toEqual([])
  })

  it('covers a name by its pattern', () => {
    expect(idsOf(ruled(rule('deny', { tool: 'gh_push' })), ruled(rule('deny', { tool: 'gh_*' })))).toEqual([])
    expect(idsOf(ruled(rule('deny', { tool: 'gh_*' })), ruled(rule('deny', { tool: 'gh_push' })))).toEqual([
      'rule.removed',
    ])
  })
})

describe('an MCP server', () => {
  const serving = (...mcp_servers: readonly ReturnType<typeof aServer>[]) => manifestWith(anAgent({ mcp_servers }))

  it('that is new is one finding, whatever tools it has', () => {
    const tools = [aTool({}, { kind: 'mcp' }), aTool({}, { name: 'list', kind: 'mcp' })]
    expect(onlyFinding(serving(), serving(aServer({ tools })))).toEqual([
      'mcp.server.added',
      'The MCP server files is new: npx files@1.0.0, with 2 tools',
    ])
  })

  it('with another pin or none is a finding, and a first pin is not', () => {
    expect(onlyFinding(serving(aServer()), serving(aServer({ pin: null })))).toEqual([
      'mcp.pin.changed',
      'The MCP server files is no longer pinned, was sha512-one',
    ])
    expect(idsOf(serving(aServer()), serving(aServer({ pin: 'sha512-two' })))).toEqual(['mcp.pin.changed'])
  })

  it('that is another one under the same name is a finding', () => {
    const other = aServer({ command: ['npx', 'evil'] })
    expect(idsOf(serving(aServer()), serving(other))).toEqual(['mcp.server.added'])
  })

  it('whose cell or tools may do more is a finding of the server', () => {
    const wider = aServer({ policy: written({ network: ['a.example'] }), tools: [aTool({}, { kind: 'mcp' })] })
    const findings = findingsOf(serving(aServer()), serving(wider))
    expect(findings).toMatchObject([
      { id: 'tool.network.widened', server: 'files' },
      { id: 'tool.added', server: 'files', tool: 'report' },
    ])
  })

  it('with another working directory or other words is another one', () => {
    const starting = (more: Parameters<typeof aServer>[0]) => serving(aServer(more))
    const plain = starting({ command: ['sh', '-c', 'a b'] })
    expect(findingsOf(plain, starting({ command: ['sh', '-c', 'a', 'b'] })).map(wordsOf)).toEqual([
      'The MCP server files is now another one: sh -c a b, was sh -c "a b"',
    ])
    expect(findingsOf(plain, starting({ command: ['sh', '-c', 'a b'], cwd: './x' })).map(wordsOf)).toEqual([
      'The MCP server files is now another one: sh -c "a b" (in ./x), was sh -c "a b"',
    ])
    expect(idsOf(plain, starting({ command: ['sh', '-c', 'a b'] }))).toEqual([])
  })

  it.each([
    [{ allow: ['roots'] }, 'The MCP server files may now ask its client for roots'],
    [
      { publish: 'http://127.0.0.1:3000/mcp' },
      'The MCP server files now serves HTTP at http://127.0.0.1:3000/mcp, was over stdio',
    ],
  ])('that may do %j with its client is a finding, and without it there is none', (more, sentence) => {
    expect(onlyFinding(serving(aServer()), serving(aServer(more)))).toEqual(['tool.constraint.loosened', sentence])
  })

  describe('with patterns of tools', () => {
    const pattern = (name: string, policy: PolicyInput = {}) =>
      aTool(policy, { name, kind: 'mcp', code: null, input: null })
    const withPatterns = (...tools: readonly ManifestTool[]) => serving(aServer({ tools }))
    const [narrow, wide] = [pattern('read_*'), pattern('*', { network: ['a.example'] })]

    it('in another order is a finding, and in the same order it is none', () => {
      const findings = findingsOf(withPatterns(narrow, wide), withPatterns(wide, narrow))
      expect(findings.map((finding) => [finding.id, wordsOf(finding)])).toEqual([
        ['tool.constraint.loosened', 'The MCP server files has its tools in another order: *, read_*, was read_*, *'],
      ])
      expect(idsOf(withPatterns(narrow, wide), withPatterns(narrow, wide))).toEqual([])
    })

    it('of which one is gone is a finding if a later one grants its tools more, and otherwise none', () => {
      expect(idsOf(withPatterns(narrow, wide), withPatterns(wide))).toEqual(['tool.constraint.loosened'])
      expect(idsOf(withPatterns(narrow, wide), withPatterns(narrow))).toEqual([])
    })

    it('of which one fits other names has a new tool', () => {
      expect(idsOf(withPatterns(pattern('read_*')), withPatterns(pattern('*')))).toEqual(['tool.added'])
      expect(idsOf(withPatterns(pattern('read_*')), withPatterns(pattern('read_*')))).toEqual([])
    })
  })

  it('with another name is the same server', () => {
    expect(idsOf(serving(aServer()), serving(aServer({ name: 'documents' })))).toEqual([])
  })
})

describe('a tag', () => {
  const tagged = (tags: Partial<Manifest['tags']>) =>
    manifestOf({ agents: [anAgent()], tags: { public: [], trusted: [], own: [], ...tags } })

  it.each<[Partial<Manifest['tags']>, Partial<Manifest['tags']>, string]>([
    [{}, { public: ['./docs/**'] }, './docs/** is now tagged public'],
    [{ trusted: ['a.example'] }, { trusted: ['a.example', 'b.example'] }, 'b.example is now tagged trusted'],
    [{}, { own: ['*.example'] }, '*.example is now tagged own'],
    [
      { public: ['!./docs/x', './docs/**'] },
      { public: ['./docs/**'] },
      '!./docs/x is no longer an exception of the tag public',
    ],
  ])('that covers more is a warning, and one that covers less is none: %j, then %j', (before, after, sentence) => {
    expect(onlyFinding(tagged(before), tagged(after))).toEqual(['tag.added', sentence])
  })
})

// A changed baseline, new ways of data and programs have files of their own.
it('every other finding has been seen here', () => {
  expect(FINDING_IDS.filter((id) => !seen.has(id))).toEqual([
    ...['baseline.tampered', 'flow.exfiltration', 'tool.program.changed'],
  ])
})
