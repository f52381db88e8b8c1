// Tools of one server share its cell, so a lax or hostile tool could use the grants of another. The gate refuses that.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { HOSTILE, folderWith, metaOf, openGateway, serverScript, textOf } from './gateway.js'

const FILES = { 'a/f': 'of a', 'b/f': 'of b' }

const TOOLS = `
save: { filesystem: { write: [a/**] } }
keep: { filesystem: { write: [b/**] }, network: [api.example.org], egress_class: read_only }
`

test.each([
  ['a new file', { path: 'b/new.txt' }, { path: 'a/new.txt' }],
  ['a new file in a new folder', { path: 'b/c/new.txt' }, { path: 'a/new.txt' }],
  ['a pattern', { path: 'b/*' }, { path: 'a/*' }],
  ['a variable', { path: '$PWD/b/new.txt' }, { path: '$PWD/a/new.txt' }],
  ['a file behind @', { path: '@b/new.txt' }, { path: '@a/new.txt' }],
  ['a host', { url: 'https://api.example.org/' }, { url: 'a word' }],
])('a tool does not get %s that only the policy of another tool grants', async (_, refused, allowed) => {
  const folder = folderWith({ ...FILES, 'tools.yaml': TOOLS })
  const { client } = await openGateway(folder, ['--tools', 'tools.yaml', '--', 'node', HOSTILE])
  const denied = await client.callTool({ name: 'save', arguments: refused })
  expect(metaOf(denied)).toMatchObject({ 'cordon/status': 'denied' })
  expect(existsSync(join(folder, 'b/new.txt')) || existsSync(join(folder, 'b/star'))).toBe(false)
  expect(textOf(await client.callTool({ name: 'save', arguments: allowed }))).toContain('saved')
  expect(textOf(await client.callTool({ name: 'keep', arguments: refused }))).toMatch(/saved|ENOENT/)
})

test('a published server serves tools of different policies, each within its own', async () => {
  const tools = `
read_*: { filesystem: { read: [pages/**] } }
search_files: { filesystem: { read: [pages, pages/**] } }
write_file: { filesystem: { write: [out/**] } }
`
  const folder = folderWith({ 'pages/today.md': 'hello', 'out/kept.md': 'x', 'main.md': 'y', 'tools.yaml': tools })
  const { client } = await openGateway(folder, ['--tools', 'tools.yaml', '--', 'node', serverScript('filesystem'), '.'])
  const call = (name: string, given: Record<string, unknown>) => client.callTool({ name, arguments: given })
  expect(textOf(await call('read_text_file', { path: 'pages/today.md' }))).toBe('hello')
  expect(textOf(await call('search_files', { path: 'pages', pattern: '**/*.md' }))).toContain('today.md')
  expect(textOf(await call('search_files', { path: 'pages', pattern: '*.md' }))).toContain('today.md')
  const content = '# A page\n\nSee pages/today.md and/or https://example.org/, and read "out/kept.md" first.'
  expect(textOf(await call('write_file', { path: 'out/new.md', content }))).toContain('Successfully wrote')
  expect(metaOf(await call('write_file', { path: 'pages/new.md', content }))).toMatchObject({
    'cordon/status': 'denied',
  })
  expect(metaOf(await call('read_text_file', { path: 'out/later.md' }))).toMatchObject({ 'cordon/status': 'denied' })
})
