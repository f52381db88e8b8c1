// Published servers, unchanged, behind `cordon mcp`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'

import { folderWith, metaOf, openGateway, serverScript, textOf } from './gateway.js'

const TOOLS = 'read_*: { filesystem: { read: [in/**] } }\nwrite_file: { filesystem: { write: [out/**] } }\n'

const openFiles = async (words: readonly string[] = []) => {
  const folder = folderWith({ 'tools.yaml': TOOLS, 'in/a.txt': 'hello', 'out/b.txt': 'old', 'secret/c.txt': 'secret' })
  const opened = await openGateway(folder, [
    '--tools',
    'tools.yaml',
    ...words,
    '--',
    'node',
    serverScript('filesystem'),
    folder,
  ])
  return { folder, ...opened }
}

describe('the filesystem server', () => {
  test('reads a file that the policy of its tool grants, and no other', async () => {
    const { client, folder } = await openFiles()
    const read = (name: string) => client.callTool({ name: 'read_text_file', arguments: { path: join(folder, name) } })
    expect(textOf(await read('in/a.txt'))).toBe('hello')
    const refused = await read('secret/c.txt')
    expect(refused.isError).toBe(true)
    expect(metaOf(refused)).toMatchObject({ 'cordon/status': 'denied', 'cordon/error': 'argument-path-denied' })
  })

  test('writes where one tool may, and not through a tool that may only read', async () => {
    const { client, folder } = await openFiles()
    const path = join(folder, 'out/b.txt')
    await client.callTool({ name: 'write_file', arguments: { path, content: 'new' } })
    expect(readFileSync(path, 'utf8')).toBe('new')
    const refused = await client.callTool({ name: 'read_text_file', arguments: { path } })
    expect(metaOf(refused)).toMatchObject({ 'cordon/status': 'denied' })
  })

  test('gets no call of a tool without a policy, unless a rule allows it', async () => {
    const { client, folder } = await openFiles()
    const call = { name: 'list_directory', arguments: { path: join(folder, 'in') } }
    expect(metaOf(await client.callTool(call))).toMatchObject({ 'cordon/status': 'denied' })
    const rules = folderWith({ 'rules.yaml': 'rules: [{ effect: allow, tool: list_directory, because: a test }]\n' })
    const allowed = await openFiles(['--read', 'in/**', '--rules', join(rules, 'rules.yaml')])
    const path = join(allowed.folder, 'in')
    expect(textOf(await allowed.client.callTool({ ...call, arguments: { path } }))).toContain('a.txt')
  })

  test('sees only those roots of the client that its cell may read', async () => {
    const folder = folderWith({ 'tools.yaml': '"*": server\n', 'in/a.txt': 'hello', 'secret/c.txt': 'secret' })
    const words = ['--read', 'in/**', '--tools', 'tools.yaml', '--allow', 'roots', '--']
    const { client } = await openGateway(
      folder,
      [...words, 'node', serverScript('filesystem'), folder],
      { roots: {} },
      (each) => {
        each.setRequestHandler(ListRootsRequestSchema, () => ({
          roots: [{ uri: `file://${folder}` }, { uri: 'file:///etc' }],
        }))
      },
    )
    await expect
      .poll(async () => textOf(await client.callTool({ name: 'list_allowed_directories', arguments: {} })))
      .toContain(`${folder}/in`)
    const listed = textOf(await client.callTool({ name: 'list_allowed_directories', arguments: {} }))
    expect(listed.split('\n').slice(1)).toEqual([`${folder}/in`])
  })
})

describe('the everything server', () => {
  const open = () => {
    const folder = folderWith({ 'tools.yaml': '"*": server\n' })
    return openGateway(folder, ['--tools', 'tools.yaml', '--', 'node', serverScript('everything')])
  }

  test('serves tools, prompts and resources', async () => {
    const { client } = await open()
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'hi' } }))).toContain('hi')
    const { prompts } = await client.listPrompts()
    expect(prompts.length).toBeGreaterThan(0)
    const { resources } = await client.listResources()
    const [first] = resources
    expect((await client.readResource({ uri: first?.uri ?? '' })).contents.length).toBeGreaterThan(0)
  })

  test('tells of progress, and a call can be cancelled', async () => {
    const { client } = await open()
    const told: number[] = []
    const call = { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 4 } }
    await client.callTool(call, undefined, { onprogress: ({ progress }) => told.push(progress) })
    // A client forgets progress that it reads together with the answer, so the last step is not asked for.
    expect(told.slice(0, 3)).toEqual([1, 2, 3])
    const cancelling = new AbortController()
    const long = client.callTool({ ...call, arguments: { duration: 600, steps: 2 } }, undefined, {
      signal: cancelling.signal,
    })
    setTimeout(() => {
      cancelling.abort('enough')
    }, 100)
    await expect(long).rejects.toThrow('enough')
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'still' } }))).toContain('still')
  })
})

test('several servers of a file share a gateway, and one that cannot start does not disturb them', async () => {
  const servers = {
    memory: { command: 'node', args: [serverScript('memory')], env: { MEMORY_FILE_PATH: '/tmp/memory.json' } },
    thinking: { command: 'node', args: [serverScript('sequential-thinking')] },
    missing: { command: 'no-such-program' },
  }
  const folder = folderWith({ 'tools.yaml': '"*": server\n', 'mcp.json': JSON.stringify({ mcpServers: servers }) })
  const { client, stderr } = await openGateway(folder, ['--tools', 'tools.yaml', '--config', 'mcp.json'])
  const names = (await client.listTools()).tools.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['memory__read_graph', 'thinking__sequentialthinking']))
  const graph = await client.callTool({ name: 'memory__read_graph', arguments: {} })
  expect(textOf(graph)).toContain('entities')
  expect(stderr()).toContain('mcp-server-not-started')
})
