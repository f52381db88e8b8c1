// The texts of `cordon manifest verify`. Names of tools and paths come from others, and must stay plain text.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'

import { REPORTS } from '../../src/report/report.js'
import { verify } from '@cordon/manifest'
import type { Manifest } from 'cordon/manifest'
import type { Verification } from '@cordon/manifest'

import { aServer, aTool, anAgent, findingsOf, manifestWith } from './manifests.js'

const GITHUB = (egress: 'read_only' | 'write') =>
  ({
    network: ['api.example.com'],
    egress_class: egress,
    credentials: [{ id: 'github-token', inject: { host: 'api.example.com', header: 'authorization' } }],
  }) as const

const before = manifestWith(
  anAgent({
    tools: [
      aTool({ filesystem: { write: ['./out'] } }),
      aTool(GITHUB('read_only'), { name: 'search', source: 'agents/main.ts:40' }),
      aTool({ limits: { wall: '30s' } }, { name: 'build', source: 'agents/main.ts:60' }),
    ],
    mcp_servers: [aServer()],
    rules: [{ id: 'no-push', effect: 'deny', from: 'project', because: 'x', conditions: { command: ['git push **'] } }],
  }),
)
const after = manifestWith(
  anAgent({
    tools: [
      aTool({ filesystem: { write: ['./out', '/etc/cron.d/x', '/srv/data'] } }),
      aTool(GITHUB('write'), { name: 'search', source: 'agents/main.ts:41' }),
      aTool({ limits: { wall: '60s' } }, { name: 'build', source: 'agents/main.ts:61' }),
      aTool(
        { exec: ['kubectl'] },
        { name: 'deploy', risk: 'high', source: 'agents/ops.ts:7', code: null, input: null },
      ),
    ],
    mcp_servers: [aServer({ pin: 'sha512-two' })],
    mode: 'never',
  }),
)

const reportOf = (done: Verification, form: keyof typeof REPORTS): string =>
  REPORTS[form]({
    ...done,
    baseline: 'origin/main',
    hash: after.hash,
    manifestFile: 'cordon.manifest.json',
    environment: {},
  })

const verified = (one: Manifest, other: Manifest): Verification => {
  const [pin] = findingsOf(one, other).filter(({ id }) => id === 'mcp.pin.changed')
  const accepted =
    pin === undefined ? [] : [{ finding: pin.id, fingerprint: pin.fingerprint, reason: 'read the release notes' }]
  return verify({ manifest: one, problem: undefined }, other, accepted)
}

describe('a change of a project', () => {
  it.each(['text', 'markdown', 'github'] as const)('reads as reviewed: %s', async (form) => {
    await expect(reportOf(verified(before, after), form)).toMatchFileSnapshot(`golden/change.${form}.txt`)
  })

  it('that allows nothing new says so', async () => {
    await expect(reportOf(verified(after, after), 'markdown')).toMatchFileSnapshot('golden/nothing-new.markdown.txt')
    expect(reportOf(verified(after, after), 'text')).toBe('No tool can do more than in origin/main.\n')
    expect(reportOf(verified(after, after), 'github')).toBe('')
  })

  it('is JSON with witnesses and reasons', () => {
    const value = JSON.parse(reportOf(verified(before, after), 'json')) as Readonly<Record<string, unknown>>
    expect(value).toMatchObject({
      passed: false,
      manifest_hash: after.hash,
      accepted: [{ id: 'mcp.pin.changed', reason: 'read the release notes' }],
    })
    expect(value['findings']).toContainEqual(
      expect.objectContaining({
        id: 'tool.filesystem.write.widened',
        severity: 'error',
        agent: 'main',
        tool: 'report',
        source: 'agents/main.ts:12',
        sentence: '`report` can now write /etc/cron.d/x',
        witnesses: [
          { kind: 'file', access: 'write', path: '/etc/cron.d/x' },
          { kind: 'file', access: 'write', path: '/srv/data' },
        ],
      }),
    )
  })
})

const HOSTILE = '`x`\n::error::owned\r\n<img src=x onerror=alert(1)> [a](http://evil) @team \u001b[31m\u202e | %0A ```'

const hostile = manifestWith(
  anAgent({
    name: HOSTILE,
    tools: [aTool({}, { name: HOSTILE, source: `${HOSTILE}:12` })],
    dynamic: [HOSTILE],
    mcp_servers: [aServer({ name: HOSTILE, command: [HOSTILE] })],
    rules: [{ id: HOSTILE, effect: 'allow', from: 'project', because: HOSTILE, conditions: { tool: [HOSTILE] } }],
  }),
)

describe('texts of others', () => {
  const done = verified(manifestWith(), hostile)

  it('reach no terminal and start no line', () => {
    const text = reportOf(done, 'text')
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
    expect(text).not.toMatch(/^::/m)
  })

  it('are no workflow command of their own', () => {
    const lines = reportOf(done, 'github').trimEnd().split('\n')
    expect(lines).toHaveLength(done.open.length)
    for (const line of lines)
      expect(line).toMatch(/^::(?:error|warning|notice) (?:file=[^:,]*,line=\d+,)?title=[a-z.-]+::/)
  })

  it('stay in code spans of Markdown', () => {
    const outside = withoutCode(reportOf(done, 'markdown'))
    expect(outside).not.toMatch(/<img|\[a\]|@team|\u001b|\u202e|::error|`/)
    expect(outside).toContain('is a new tool')
  })
})

/** Removes code spans as CommonMark reads them: a run of backticks up to the next run of the same length. */
const withoutCode = (markdown: string): string => {
  let rest = markdown
  let outside = ''
  for (;;) {
    const [fence] = /`+/.exec(rest) ?? []
    if (fence === undefined) return outside + rest
    const start = rest.indexOf(fence)
    outside += rest.slice(0, start)
    const inside = rest.slice(start + fence.length)
    const end = new RegExp(`(?<!\`)\`{${String(fence.length)}}(?!\`)`).exec(inside)
    if (end === null) return outside + rest
    rest = inside.slice(end.index + fence.length)
  }
}

describe('SARIF', () => {
  // Version 2.1.0-rtm.5 of the schema, which is that of the standard. Its draft 4 differs from draft 7 only in "id".
  const {
    $schema: _,
    id: __,
    ...schema
  } = JSON.parse(readFileSync(join(import.meta.dirname, 'sarif-2.1.0.schema.json'), 'utf8')) as Readonly<
    Record<string, unknown>
  >
  const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema)
  const resultsOf = (text: string) =>
    (JSON.parse(text) as { readonly runs: readonly { readonly results: readonly Record<string, unknown>[] }[] }).runs[0]
      ?.results ?? []

  it.each([
    ['findings', verified(before, after)],
    ['hostile names', verified(manifestWith(), hostile)],
    ['nothing', verified(after, after)],
  ])('fits the schema of the standard, with %s', (_name, done) => {
    const value: unknown = JSON.parse(reportOf(done, 'sarif'))
    expect([validate(value), validate.errors]).toEqual([true, null])
  })

  it('is refused by the schema if a level is wrong', () => {
    expect(
      validate(JSON.parse(reportOf(verified(before, after), 'sarif').replace('"level":"error"', '"level":"bad"'))),
    ).toBe(false)
  })

  it('has stable fingerprints, places in files, and suppressions with reasons', () => {
    const done = verified(before, after)
    const results = resultsOf(reportOf(done, 'sarif'))
    expect(results.map((result) => result['partialFingerprints'])).toEqual(
      [...done.open, ...done.accepted.map(({ finding }) => finding)].map(({ fingerprint }) => ({
        'cordonFinding/v1': fingerprint,
      })),
    )
    expect(results.find((result) => result['ruleId'] === 'tool.added.high-risk')).toMatchObject({
      locations: [{ physicalLocation: { artifactLocation: { uri: 'agents/ops.ts' }, region: { startLine: 7 } } }],
    })
    expect(results.at(-1)).toMatchObject({
      ruleId: 'mcp.pin.changed',
      suppressions: [{ kind: 'external', status: 'accepted', justification: 'read the release notes' }],
    })
  })
})
