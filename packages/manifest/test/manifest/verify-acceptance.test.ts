import { describe, expect, it } from 'vitest'

import { manifestJson, readManifest } from 'cordon/manifest'
import { isFailing, verify } from '@cordon/manifest'
import type { Manifest, ManifestTool } from 'cordon/manifest'
import type { Acceptance } from '@cordon/manifest'
import type { PolicyInput } from 'cordon/policy'

import { aServer, aTool, anAgent, findingsOf, manifestWith } from './manifests.js'

const withTool = (tool: ManifestTool): Manifest => manifestWith(anAgent({ tools: [tool] }))

/** Accepts what is found between two manifests. */
const acceptAll = (before: Manifest, after: Manifest): readonly Acceptance[] =>
  findingsOf(before, after).map(({ id, fingerprint }) => ({ finding: id, fingerprint, reason: 'reviewed' }))

const withAccepted = (manifest: Manifest, accepted: readonly Acceptance[]) =>
  readManifest(manifestJson({ ...manifest, accepted: [...accepted] }), 'baseline')

const stillOpen = (before: Manifest, accepted: Manifest, later: Manifest): readonly string[] =>
  verify(withAccepted(before, acceptAll(before, accepted)), later).open.map(({ id }) => id)

describe('an accepted finding', () => {
  const before = withTool(aTool({ filesystem: { read: ['/a'] } }))
  const after = withTool(aTool({ filesystem: { read: ['/a', '/b'] } }))

  it('does not fail, and is shown with its reason', () => {
    const done = verify(withAccepted(before, acceptAll(before, after)), after)
    expect(isFailing(done)).toBe(false)
    expect(done.accepted).toMatchObject([
      { finding: { id: 'tool.filesystem.read.widened' }, acceptance: { reason: 'reviewed' } },
    ])
    expect(isFailing(verify(withAccepted(before, []), after))).toBe(true)
  })

  it('keeps its fingerprint when lines, orders and other tools change', () => {
    const moved = manifestWith(
      anAgent({
        tools: [
          aTool({}, { name: 'zero', code: null, input: null }),
          aTool({ filesystem: { read: ['/b', '/a'] } }, { source: 'elsewhere.ts:1', code: null }),
        ],
      }),
    )
    expect(stillOpen(before, after, moved)).toEqual(['tool.added'])
  })

  it('is not accepted for a tool of another name', () => {
    const renamed = withTool(aTool({ filesystem: { read: ['/a', '/b'] } }, { name: 'summary' }))
    expect(stillOpen(before, after, renamed)).toEqual(['tool.filesystem.read.widened'])
  })

  it('counts only under its own id', () => {
    const accepted = acceptAll(before, after).map((each) => ({ ...each, finding: 'tool.added' }))
    expect(isFailing(verify(withAccepted(before, accepted), after))).toBe(true)
  })

  it('that does not occur any more is told', () => {
    const done = verify(withAccepted(before, acceptAll(before, after)), before)
    expect(done.unused).toMatchObject([{ finding: 'tool.filesystem.read.widened' }])
  })
})

describe('an acceptance does not cover a wider change', () => {
  it.each<[string, PolicyInput, PolicyInput, PolicyInput]>([
    [
      'another folder',
      { filesystem: { read: ['/a'] } },
      { filesystem: { read: ['/a', '/b'] } },
      { filesystem: { read: ['/a', '/b', '/c'] } },
    ],
    [
      'a carve-out less',
      { filesystem: { read: ['/a'] } },
      { filesystem: { read: ['/a', '/b', '!/b/secret'] } },
      { filesystem: { read: ['/a', '/b'] } },
    ],
    [
      'another method',
      { network: [] },
      { network: [{ host: 'a.example', methods: ['GET'] }] },
      { network: [{ host: 'a.example', methods: ['GET', 'PUT'] }] },
    ],
    ['any program', { exec: ['git'] }, { exec: ['git', 'sh'] }, { exec: 'all' }],
    ['another program', { exec: ['git'] }, { exec: ['git', 'sh'] }, { exec: ['git', 'sh', 'env'] }],
    ['a higher limit', { limits: { wall: '1s' } }, { limits: { wall: '2s' } }, { limits: { wall: '3s' } }],
    ['another variable', { environment: [] }, { environment: ['A'] }, { environment: ['A', 'B'] }],
    ['another value of a variable', { environment: [] }, { environment: ['A=1'] }, { environment: ['A=2'] }],
    [
      'another host of a credential',
      { network: ['a.example', 'b.example'] },
      { network: ['a.example', 'b.example'], credentials: [{ id: 'x', inject: { host: 'a.example', header: 'x' } }] },
      {
        network: ['a.example', 'b.example'],
        credentials: [{ id: 'x', inject: { host: ['a.example', 'b.example'], header: 'x' } }],
      },
    ],
  ])('%s', (_, baseline, accepted, later) => {
    const [before, between, after] = [baseline, accepted, later].map((policy) => withTool(aTool(policy)))
    if (before === undefined || between === undefined || after === undefined) throw new Error('no manifests')
    expect(acceptAll(before, between)).not.toEqual([])
    expect(stillOpen(before, between, between)).toEqual([])
    expect(stillOpen(before, between, after)).not.toEqual([])
  })

  it('the same grants, after the baseline became narrower', () => {
    const policy = (read: readonly string[]) => withTool(aTool({ filesystem: { read } }))
    const accepted = acceptAll(policy(['/a']), policy(['/a', '/b']))
    expect(isFailing(verify(withAccepted(policy(['/c']), accepted), policy(['/a', '/b'])))).toBe(true)
  })

  it('a new tool that gets more rights', () => {
    const fresh = (policy: PolicyInput, more: Partial<ManifestTool> = {}) =>
      manifestWith(anAgent({ tools: [aTool(policy, more)] }))
    const empty = manifestWith(anAgent())
    expect(stillOpen(empty, fresh({}), fresh({}, { code: null }))).toEqual([])
    expect(stillOpen(empty, fresh({}), fresh({ exec: ['sh'] }))).toEqual(['tool.added'])
    expect(stillOpen(empty, fresh({}), fresh({}, { approval: 'allow' }))).toEqual(['tool.added'])
  })

  it('a new server that gets another tool, or another pin', () => {
    const serving = (...servers: readonly ReturnType<typeof aServer>[]) =>
      manifestWith(anAgent({ mcp_servers: servers }))
    const more = aServer({ tools: [aTool({}, { kind: 'mcp' })] })
    expect(stillOpen(serving(), serving(aServer()), serving(aServer()))).toEqual([])
    expect(stillOpen(serving(), serving(aServer()), serving(more))).toEqual(['mcp.server.added'])
    expect(stillOpen(serving(), serving(aServer()), serving(aServer({ pin: null })))).toEqual(['mcp.server.added'])
  })
})

describe('a baseline that somebody changed by hand', () => {
  const changed = manifestJson(withTool(aTool({ exec: ['git'] }))).replace('"git"', '"sh"')

  it('is found, and nobody can accept it', () => {
    const baseline = readManifest(changed, 'baseline')
    const [finding, ...others] = verify(baseline, baseline.manifest).open
    expect([finding?.id, others]).toEqual(['baseline.tampered', []])
    const accepted = [{ finding: 'baseline.tampered', fingerprint: finding?.fingerprint ?? '', reason: 'mine' }]
    expect(isFailing(verify(baseline, baseline.manifest, accepted))).toBe(true)
  })

  it('is not one whose acceptances changed', () => {
    const { problem } = withAccepted(withTool(aTool()), [{ finding: 'tool.added', fingerprint: '00', reason: 'x' }])
    expect(problem).toBeUndefined()
  })
})
