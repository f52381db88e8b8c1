// Follows docs/for-authors.md and README.md word for word.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'

import { linkPackages } from '../../../../test/repository.js'
import { folderWith, textOf } from '../mcp/gateway.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PAGE = readFileSync(join(ROOT, 'docs', 'for-authors.md'), 'utf8')

const blockAfter = (heading: string, page = PAGE): string =>
  /```js\n([^]*?)```/.exec(page.slice(page.indexOf(`${heading}\n`)))?.[1] ?? ''

/** A project that has installed what the page says. */
const project = (): string => {
  const folder = folderWith({ 'notes/today.txt': 'Buy milk.' })
  linkPackages(folder, 'cordon', '@cordon/mcp', 'zod', '@modelcontextprotocol/sdk', '@modelcontextprotocol/server')
  return folder
}

test('the server of docs/for-authors.md reads a note and nothing else, as printed', async () => {
  const folder = project()
  writeFileSync(join(folder, 'server.mjs'), blockAfter('# For authors of MCP servers'))
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: ['server.mjs'], cwd: folder, stderr: 'ignore' }),
  )
  const read = (path: string) => client.callTool({ name: 'read_note', arguments: { path } })
  expect(textOf(await read('notes/today.txt'))).toBe('Buy milk.')
  expect((await read('/etc/passwd')).isError).toBe(true)
})

test('the sandbox with capabilities of docs/for-authors.md writes, as printed', () => {
  const workspace = folderWith({})
  const folder = project()
  writeFileSync(join(folder, 'agent.mjs'), blockAfter('## Coming from sandlock').replaceAll('/tmp/agent', workspace))
  const { status, stderr } = spawnSync(process.execPath, ['agent.mjs'], { cwd: folder, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('x')
})

test('the server of README.md counts lines within its policy and nothing else, as printed', async () => {
  const folder = project()
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'data', 'fruit'), 'pear\napple\n')
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  writeFileSync(join(folder, 'server.mjs'), blockAfter('# @cordon/mcp', readme))
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: ['server.mjs'], cwd: folder, stderr: 'ignore' }),
  )
  const count = (file: string) => client.callTool({ name: 'count', arguments: { file } })
  expect(textOf(await count('data/fruit'))).toBe('2 data/fruit\n')
  expect((await count('/etc/passwd')).isError).toBe(true)
})
