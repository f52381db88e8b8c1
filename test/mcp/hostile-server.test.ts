// A server that breaks the rules harms nobody but itself.
import { ElicitRequestSchema, ResultSchema as AnyResult } from '@modelcontextprotocol/sdk/types.js'
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'

import { plainSchema } from '../../src/mcp/plain-schema.js'

import { HOSTILE, folderWith, metaOf, openGateway, textOf } from './gateway.js'

const open = (
  words: readonly string[] = [],
  capabilities: ClientCapabilities = {},
  prepare?: Parameters<typeof openGateway>[3],
) => {
  const folder = folderWith({ 'tools.yaml': '"*": server\n' })
  return openGateway(folder, ['--tools', 'tools.yaml', ...words, '--', 'node', HOSTILE], capabilities, prepare)
}

const openTwo = () => {
  const server = { command: 'node', args: [HOSTILE] }
  const folder = folderWith({
    'tools.yaml': '"*": server\n',
    'mcp.json': JSON.stringify({ mcpServers: { bad: server, good: server } }),
  })
  return openGateway(folder, ['--tools', 'tools.yaml', '--config', 'mcp.json'])
}

describe('a hostile server', () => {
  test('that dies loses its calls with a typed error, and another server goes on', async () => {
    const { client } = await openTwo()
    const hanging = client.callTool({ name: 'bad__hang', arguments: {} })
    const died = await client.callTool({ name: 'bad__die', arguments: {} })
    expect(metaOf(died)).toMatchObject({ 'cordon/status': 'failed', 'cordon/error': 'mcp-server-ended' })
    expect(metaOf(await hanging)).toMatchObject({ 'cordon/error': 'mcp-server-ended' })
    expect(metaOf(await client.callTool({ name: 'bad__echo', arguments: {} }))).toMatchObject({
      'cordon/error': 'mcp-server-ended',
    })
    expect(textOf(await client.callTool({ name: 'good__echo', arguments: { words: 'alive' } }))).toBe('alive')
  })

  test('that floods or hangs does not keep another server from answering', async () => {
    const { client } = await openTwo()
    const flood = client.callTool({ name: 'bad__flood', arguments: {} })
    void client.callTool({ name: 'bad__hang', arguments: {} }).catch(() => undefined)
    expect(textOf(await client.callTool({ name: 'good__echo', arguments: { words: 'alive' } }))).toBe('alive')
    expect(textOf(await flood)).toBe('flooded')
  })

  test.each([
    ['answers twice', 'twice', 'first', 'answers what nobody asked'],
    ['answers for nobody', 'nobody', 'for you', 'answers what nobody asked'],
    ['prints garbage', 'garbage', 'after garbage', 'it is not JSON'],
    ['nests a hundred thousand lists', 'deep', 'after depth', 'it is nested too deeply'],
  ])('that %s is reported, and its calls go on', async (_, name, answer, problem) => {
    const { client, stderr } = await open()
    expect(textOf(await client.callTool({ name, arguments: {} }))).toBe(answer)
    expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'next' } }))).toBe('next')
    expect(stderr()).toContain('mcp-server-garbled')
    expect(stderr()).toContain(problem)
  })

  test('does not get a call without an id, which the gate would not judge', async () => {
    const { client } = await open()
    await client.notification({ method: 'tools/call', params: { name: 'die', arguments: {} } })
    expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'alive' } }))).toBe('alive')
  })

  test('does not get keys that differ from judged ones only in case', async () => {
    const { client } = await open()
    const params = { name: 'echo', arguments: { words: 'judged' }, Arguments: { words: 'other' } }
    await expect(client.request({ method: 'tools/call', params }, AnyResult, { timeout: 2_000 })).rejects.toThrow()
    expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'alive' } }))).toBe('alive')
  })

  test('cannot keep the gateway busy with a pattern of its schema', async () => {
    const { client } = await open()
    const words = `${'a'.repeat(40)}!`
    expect(textOf(await client.callTool({ name: 'slow', arguments: { words } }))).toBe(words)
  })

  test('cannot keep the gateway busy with a schema of 300,000 parts, and calls that fit the rest go on', () => {
    const wide = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`p${at}`, { type: 'string' }]))
    const schema = plainSchema({
      type: 'object',
      properties: { count: { type: 'integer' }, inner: { properties: wide } },
    })
    expect(schema).toMatchObject({ type: 'object', properties: { count: { type: 'integer' } } })
    expect(JSON.stringify(schema).length).toBeLessThan(100_000)
  })

  test('that lists 300,000 tools is left out, and another server goes on', async () => {
    const folder = folderWith({
      'tools.yaml': '"*": server\n',
      'mcp.json': JSON.stringify({
        mcpServers: { bad: { command: 'node', args: [HOSTILE, 'many'] }, good: { command: 'node', args: [HOSTILE] } },
      }),
    })
    const { client } = await openGateway(folder, ['--tools', 'tools.yaml', '--config', 'mcp.json'])
    const { tools } = await client.listTools()
    expect(tools.every(({ name }) => name.startsWith('good__'))).toBe(true)
    expect(textOf(await client.callTool({ name: 'good__echo', arguments: { words: 'alive' } }))).toBe('alive')
  })

  test('cannot set keys of Cordon, and keeps all others', async () => {
    const { client } = await open()
    const result = await client.callTool({ name: 'spoof', arguments: {} })
    expect(result).toEqual({
      'content': [{ type: 'text', text: 'spoofed', _meta: { kept: 1 } }],
      '_meta': { 'example.org/kept': true },
      'unknown-field': { a: [1] },
    })
  })

  test('cannot give its error the code of an error of Cordon', async () => {
    const { client } = await open()
    const lying = client.callTool({ name: 'lie', arguments: {} })
    await expect(lying).rejects.toMatchObject({ code: -32000, data: { kept: 1 } })
    await expect(lying).rejects.not.toMatchObject({ data: { 'cordon/error': 'approval-rejected' } })
  })

  test('can send a message of more than 20 MB', async () => {
    const { client } = await open()
    const bytes = 21 * 1024 * 1024
    expect(textOf(await client.callTool({ name: 'large', arguments: { bytes } })).length).toBe(bytes)
  })

  test('serves a thousand calls at once', async () => {
    const { client } = await open()
    const calls = Array.from({ length: 1_000 }, (_, at) =>
      client.callTool({ name: 'echo', arguments: { words: String(at) } }),
    )
    expect((await Promise.all(calls)).map(textOf)).toEqual(calls.map((_, at) => String(at)))
  })

  test('that hangs is cancelled after the time limit of its tools', async () => {
    const { client } = await open(['--timeout', '200ms'])
    expect(metaOf(await client.callTool({ name: 'hang', arguments: {} }))).toMatchObject({
      'cordon/status': 'timeout',
      'cordon/error': 'tool-timed-out',
    })
  })

  test('may not ask its client, unless the command line allows it, and then it is named', async () => {
    const asked: string[] = []
    const able = { elicitation: {} }
    const prepare: Parameters<typeof openGateway>[3] = (client) => {
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params.message)
        return { action: 'decline' }
      })
    }
    const ask = { name: 'ask', arguments: { method: 'elicitation/create' } }
    const refused = await open([], able, prepare)
    expect(refused.client.getInstructions()).toBe('{}')
    expect(textOf(await refused.client.callTool(ask))).toContain('mcp-request-refused')
    expect(asked).toEqual([])
    const allowed = await open(['--allow', 'elicitation', '--server', 'shop'], able, prepare)
    expect(textOf(await allowed.client.callTool(ask))).toContain('decline')
    expect(asked).toEqual(['The MCP server "shop" asks: Your password?'])
  })
})
