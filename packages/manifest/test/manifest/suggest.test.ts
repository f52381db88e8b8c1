// `cordon manifest suggest` and the unused grants of `inspect`, on projects on disk.
import { expect, test } from 'vitest'

import { loadPolicyText } from 'cordon/policy'
import { cordon } from '../../../core/test/cli/cordon.js'

import { project } from './project-stage.js'

const TOOLS = `
import { processTool, tool } from 'cordon'

export const search = tool({
  name: 'search',
  policy: { filesystem: { read: ['./docs'], write: ['./out'] }, network: ['api.example.com', 'cdn.example.com'] },
  run: async () => {
    const { readFileSync } = await import('node:fs')
    readFileSync('./docs/a.txt')
    await fetch('https://api.example.com/v1')
  },
})

export const report = tool({
  name: 'report',
  policy: {},
  run: async () => {
    const { writeFileSync } = await import('node:fs')
    writeFileSync('./out/report.txt', process.env.TITLE ?? '')
  },
})

export const list = processTool({ name: 'list', policy: {}, command: () => ['ls', 'docs'] })

export const odd = tool({
  name: 'odd',
  policy: {},
  run: async ({ name }: { name: string }) => {
    const { readFileSync } = await import('node:fs')
    return [eval(name), readFileSync('./docs/b.txt', 'utf8')]
  },
})
`

const folder = project({ 'tools.ts': TOOLS, 'cordon.config.json': '{ "entries": ["tools.ts"] }' })
const manifest = (...words: readonly string[]) =>
  cordon(['manifest', ...words], { cwd: folder, environment: { HOME: '/var/empty' } })

test('the suggested policy has what the code does, and no more, with its places', () => {
  const { status, stdout } = manifest('suggest', 'report')
  expect(status).toBe(0)
  const policy = loadPolicyText(stdout, 'suggested')
  expect(policy.filesystem.write).toMatchObject({ kind: 'list', items: [{ text: './out/report.txt' }] })
  expect(policy.environment).toMatchObject({ kind: 'list', items: [{ name: 'TITLE' }] })
  expect(policy.network.kind).not.toBe('list')
  expect(stdout).toMatch(/report\.txt" # tools\.ts:\d+/)
})

test('a policy that grants more than the code needs is said to do so', () => {
  const { status, stdout } = manifest('suggest', 'search')
  expect(status).toBe(0)
  expect(stdout).toContain('./docs/a.txt')
  expect(stdout).toContain('host: api.example.com')
  expect(stdout).not.toContain('cdn.example.com')
  expect(stdout).toContain('# the present policy grants this, and more')
})

test('code that cannot be followed makes a suggestion incomplete', () => {
  const { status, stdout } = manifest('suggest', 'odd')
  expect(status).toBe(1)
  expect(stdout).toContain('incomplete')
  expect(stdout).toContain('./docs/b.txt')
})

test('the needs of a program make a suggestion incomplete', () => {
  const { status, stdout } = manifest('suggest', 'list')
  expect(status).toBe(1)
  expect(stdout).toContain('incomplete: what its program needs')
})

test('a tool that is not in the code is refused, with a near name', () => {
  const { status, stderr } = manifest('suggest', 'serch')
  expect(status).toBe(2)
  expect(stderr).toContain('cordon manifest suggest search')
})

test('inspect names grants that the code does not use, and is silent about code that it cannot follow', () => {
  const { stdout } = manifest('inspect', '--format', 'json')
  const { unused } = JSON.parse(stdout) as { readonly unused: unknown }
  const text = JSON.stringify(unused)
  expect(text).toContain('cdn.example.com')
  expect(text).toContain('./out')
  expect(text).not.toContain('api.example.com')
  expect(text).not.toContain('odd')
})
