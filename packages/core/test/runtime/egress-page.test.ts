// Follows docs/egress.md and docs/policy-files.md word for word, with a server on this machine and its own
// certificate authority.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, describe, expect, test } from 'vitest'

import { linkPackages } from '../../../../test/repository.js'

import { CordonError } from '../../src/errors/index.js'
import { policyFrom, processTool, tool } from '../../src/runtime/index.js'
import { echo, serverAuthority, startHttps } from '../egress/servers.js'

import { openStage } from './stage.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const page = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8')
const HOST = 'api.github.com'
const TOKEN = 'token-of-nobody-0123456789'
const authorizations: unknown[] = []
const server = await startHttps(
  (request, response) => {
    authorizations.push(request.headers.authorization)
    echo(request, response)
  },
  { host: HOST },
)
afterAll(() => server.close())
const stage = openStage()

const refusalOf = (work: () => unknown): CordonError => {
  try {
    work()
  } catch (error) {
    if (error instanceof CordonError) return error
    throw error
  }
  return expect.fail('it was not refused')
}

describe('docs/egress.md', () => {
  test("has an example that runs as printed, except for the host's address", async () => {
    const place = stage.newFolder()
    linkPackages(place, 'cordon')
    writeFileSync(join(place, 'ca.pem'), serverAuthority.certificate)
    const printed =
      /```js\n([^]*?)```/.exec(page('egress.md').slice(page('egress.md').indexOf('## Credentials')))?.[1] ?? ''
    const pinned = printed
      .replaceAll(/(?<=['/])api\.github\.com(?=['/])/g, `${HOST}:${String(server.port)}`)
      .replace(
        'egress: { secrets',
        `egress: { pins: { '${HOST}': ['127.0.0.1'] }, authorities: [readFileSync('ca.pem', 'utf8')], secrets`,
      )
    writeFileSync(join(place, 'example.mjs'), `import { readFileSync } from 'node:fs'\n${pinned}`)
    const run = async (environment: NodeJS.ProcessEnv) => {
      const child = spawn(process.execPath, ['example.mjs'], { cwd: place, env: environment })
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (more: string) => {
          said += more
        })
      return { status: await new Promise((resolve) => child.on('close', resolve)), text: said }
    }
    const { GITHUB_TOKEN: _, ...without } = process.env
    const { status, text } = await run({ ...without, GITHUB_TOKEN: TOKEN })
    expect(text).toMatch(/^ok \{/)
    expect(status).toBe(0)
    expect(authorizations).toEqual([`Bearer ${TOKEN}`])
    expect(text).not.toContain(TOKEN)
    // A variable that was forgotten is named, with what to do.
    const forgotten = await run(without)
    expect(forgotten.text).toMatch(/^the credential "github-token" .*GITHUB_TOKEN[^]*^fix: \S/m)
  })

  test('describes a denial without a rule, and its fix works', async () => {
    const make = (name: string, egressClass: 'read_only' | 'write') =>
      processTool({ name, policy: { network: ['api.test'], egress_class: egressClass }, command: () => ['true'] })
    const tools = [make('reads', 'read_only'), make('writes', 'write')]
    const bare = await stage.cordon({ tools, mode: 'default' })
    const { facts } = await bare.call('reads')
    const fix = facts.error?.fix ?? ''
    expect(fix).toContain('rules: [{ rules: [{ effect: "allow", tool: "reads", because: "…" }] }]')
    expect(fix).toContain('mode: "on_request"')
    expect(fix).toContain('approve: async')
    expect((await bare.call('writes')).facts.error?.fix).toMatch(
      /^let somebody answer: createCordon\(\{ approve: async/,
    )
    const allowed = await stage.cordon({
      tools,
      mode: 'default',
      rules: [{ rules: [{ effect: 'allow', tool: 'reads', because: '…' }] }],
    })
    expect((await allowed.call('reads')).status).toBe('ok')
    expect((await (await stage.cordon({ tools, mode: 'on_request' })).call('reads')).status).toBe('ok')
    const asked = await stage.cordon({
      tools,
      mode: 'default',
      approve: () => Promise.resolve({ kind: 'approve_once', by: 'ann' }),
    })
    expect((await asked.call('writes')).status).toBe('ok')
  })

  test('refuses credentials of an in-process tool, because nothing would inject them', () => {
    const refusal = refusalOf(() =>
      tool({ name: 'inside', inProcess: true, policy: policyFrom('openai'), run: () => null }),
    )
    expect(refusal.message).toContain('nothing puts in its credential "openai-key"; leave "inProcess" out')
  })
})

describe('docs/policy-files.md', () => {
  const folder = stage.newFolder()
  const blocks = Array.from(page('policy-files.md').matchAll(/```yaml\n([^]*?)```/g), ([, text = '']) => text)
  const saved = (text: string, at: number): string => {
    const path = join(folder, `block-${String(at)}.yaml`)
    writeFileSync(path, text)
    return path
  }

  test('has files that load and become policies of tools', () => {
    const policies = blocks.map((text, at) => policyFrom(saved(text, at)))
    expect(policies.length).toBeGreaterThan(1)
    for (const policy of [...policies, policyFrom('github'), policyFrom('pip')])
      expect(processTool({ name: 'any', policy, command: () => ['true'] }).policy.network.kind).toBe('list')
  })

  test.each([
    ['a name that is nearly one', 'githb', 'did you mean "github"?'],
    ['a name that is none', 'nosuch', 'there are: anthropic,'],
    ['a file that is not there', './nosuch.yaml', 'relative paths start at the current directory'],
  ])('a mistake with %s gives an error that says so', (_, word, fix) => {
    expect(refusalOf(() => policyFrom(word)).fix).toContain(fix)
  })

  test('the error names the line of a mistake', () => {
    expect(refusalOf(() => policyFrom(saved('network:\n  - api.test\n  - a,b\n', 99))).message).toMatch(
      /block-99\.yaml:3: network\[1\]/,
    )
  })
})
