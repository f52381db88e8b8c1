// A server that breaks the rules harms nobody but itself.
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResultSchema as AnyResult,
} from '@modelcontextprotocol/sdk/types.js'
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { plainSchema } from '../../src/gateway/plain-schema.js'

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
  test('that dies loses its calls with a typed error, is started again, and another server goes on', async () => {
    const { client } = await openTwo()
    const hanging = client.callTool({ name: 'bad__hang', arguments: {} })
    const died = await client.callTool({ name: 'bad__die', arguments: {} })
    expect(metaOf(died)).toMatchObject({ 'cordon/status': 'failed', 'cordon/error': 'mcp-server-ended' })
    expect(metaOf(await hanging)).toMatchObject({ 'cordon/error': 'mcp-server-ended' })
    expect(textOf(await client.callTool({ name: 'bad__echo', arguments: { words: 'again' } }))).toBe('again')
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
  ])('that %s is reported, and its calls go on', async (_, name, answer, problem) => {
    const { client, stderr } = await open()
    expect(textOf(await client.callTool({ name, arguments: {} }))).toBe(answer)
    expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'next' } }))).toBe('next')
    expect(stderr()).toContain('mcp-server-garbled')
    expect(stderr()).toContain(problem)
  })

  test('does not get a call without an id, which the gate would not judge', IN_MATRIX, async () => {
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

  test('cannot keep the gateway busy with a pattern of its schema', IN_MATRIX, async () => {
    const { client } = await open()
    const words = `${'a'.repeat(40)}!`
    expect(textOf(await client.callTool({ name: 'slow', arguments: { words } }))).toBe(words)
  })

  test(
    'cannot keep the gateway busy with a schema of 300,000 parts, and calls that fit the rest go on',
    IN_MATRIX,
    () => {
      const wide = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`p${at}`, { type: 'string' }]))
      const schema = plainSchema({
        type: 'object',
        properties: { count: { type: 'integer' }, inner: { properties: wide } },
      })
      expect(schema).toMatchObject({ type: 'object', properties: { count: { type: 'integer' } } })
      expect(JSON.stringify(schema).length).toBeLessThan(100_000)
    },
  )

  test('that lists 300,000 tools is left out, and another server goes on', IN_MATRIX, async () => {
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

  test('cannot set keys of Cordon or overlong ones, and keeps all others', async () => {
    const { client } = await open()
    const result = await client.callTool({ name: 'spoof', arguments: {} })
    expect(result).toEqual({
      'content': [{ type: 'text', text: 'spoofed', _meta: { kept: 1 } }],
      '_meta': { 'example.org/kept': true },
      'unknown-field': { a: [1] },
    })
  })

  test('cannot give its error the code of an error of Cordon', IN_MATRIX, async () => {
    const { client } = await open()
    const lying = client.callTool({ name: 'lie', arguments: {} })
    await expect(lying).rejects.toMatchObject({ code: -32000, data: { kept: 1 } })
    await expect(lying).rejects.not.toMatchObject({ data: { 'cordon/error': 'approval-rejected' } })
  })

  test('that dies again and again is not started for ever', IN_MATRIX, async () => {
    const { client, stderr } = await open()
    for (let dying = 0; dying < 6; dying += 1)
      expect(metaOf(await client.callTool({ name: 'die', arguments: {} }))).toMatchObject({
        'cordon/error': 'mcp-server-ended',
      })
    expect(metaOf(await client.callTool({ name: 'echo', arguments: {} }))).toMatchObject({
      'cordon/error': 'mcp-server-ended',
    })
    expect(stderr()).toContain('at most 5 times in a row')
  })

  test('that closes its output loses its calls, and is started again', async () => {
    const { client } = await open()
    expect(metaOf(await client.callTool({ name: 'close', arguments: {} }))).toMatchObject({
      'cordon/error': 'mcp-server-ended',
    })
    expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'again' } }))).toBe('again')
  })

  test.each(['text', 'both', 'neither', 'list'])(
    'whose answer cannot be used (%s) loses only that call',
    async (form) => {
      const { client, stderr } = await open()
      await expect(client.callTool({ name: 'unusable', arguments: { form } })).rejects.toMatchObject({
        data: { 'cordon/error': 'mcp-server-garbled' },
      })
      expect(stderr()).toContain('gave an unusable answer')
      expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'next' } }))).toBe('next')
    },
  )

  test('that nests a hundred thousand lists loses that call at once', IN_MATRIX, async () => {
    const { client } = await open()
    await expect(client.callTool({ name: 'deep', arguments: {} })).rejects.toMatchObject({
      data: { 'cordon/error': 'mcp-server-garbled' },
    })
    expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'next' } }))).toBe('next')
  })

  test('that answers tools/list without a list is told apart from one without tools', IN_MATRIX, async () => {
    const folder = folderWith({ 'tools.yaml': '"*": server\n' })
    const { client } = await openGateway(folder, ['--tools', 'tools.yaml', '--', 'node', HOSTILE, 'unlisted'])
    await expect(client.listTools()).rejects.toMatchObject({ data: { 'cordon/error': 'mcp-server-garbled' } })
  })

  test('cannot list a tool with a name of a thousand letters, and its other tools are listed', IN_MATRIX, async () => {
    const folder = folderWith({ 'tools.yaml': '"*": server\n' })
    const { client, stderr } = await openGateway(folder, ['--tools', 'tools.yaml', '--', 'node', HOSTILE, 'long'])
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('echo')
    expect(tools.every(({ name }) => name.length < 1_000)).toBe(true)
    expect(stderr()).toContain('names of more than')
  })

  test('cannot break its list by entries without a name', IN_MATRIX, async () => {
    const folder = folderWith({ 'tools.yaml': '"*": server\n' })
    const { client, stderr } = await openGateway(folder, ['--tools', 'tools.yaml', '--', 'node', HOSTILE, 'nameless'])
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
    expect(stderr()).toContain('lists entries without a name')
  })

  test(
    'cannot break the session with a result that is too long for the client, and a shorter one arrives',
    IN_MATRIX,
    async () => {
      const { client } = await open()
      const call = (bytes: number) => client.callTool({ name: 'large', arguments: { bytes } })
      expect(metaOf(await call(11 * 1024 * 1024))).toMatchObject({ 'cordon/error': 'mcp-message-too-long' })
      const short = 9 * 1024 * 1024
      expect(textOf(await call(short)).length).toBe(short)
    },
  )

  test('cannot flood its client with notifications', IN_MATRIX, async () => {
    let told = 0
    const { client, stderr } = await open([], {}, (each) => {
      each.setNotificationHandler(LoggingMessageNotificationSchema, () => {
        told += 1
      })
    })
    expect(textOf(await client.callTool({ name: 'flood', arguments: {} }))).toBe('flooded')
    expect(told).toBeGreaterThan(100)
    expect(told).toBeLessThan(20_000)
    expect(stderr()).toContain('some are dropped')
  })

  test('cannot log in the name of Cordon or an overlong one, and logs in others', IN_MATRIX, async () => {
    const loggers: unknown[] = []
    const { client } = await open([], {}, (each) => {
      each.setNotificationHandler(LoggingMessageNotificationSchema, ({ params: { logger } }) => {
        if (logger !== undefined) loggers.push(logger)
      })
    })
    await client.callTool({ name: 'logger', arguments: {} })
    expect(loggers).toEqual(['accordion'])
  })

  test('cannot call itself Cordon', async () => {
    const folder = folderWith({ 'tools.yaml': '"*": server\n' })
    const words = ['--tools', 'tools.yaml', '--server', 'shop', '--', 'node', HOSTILE, 'named']
    const { client, stderr } = await openGateway(folder, words)
    expect(client.getServerVersion()?.name).toBe('shop')
    expect(stderr()).toContain('its name looks like that of Cordon')
    await expect(openGateway(folder, ['--server', 'C0rdon', '--', 'node', HOSTILE])).rejects.toThrow(
      'looks like that of Cordon',
    )
  })

  test('writes to stderr only with its name, and cannot hide or move text there', async () => {
    const folder = folderWith({ 'tools.yaml': '"*": server\n' })
    const { client, stderr } = await openGateway(folder, ['--tools', 'tools.yaml', '--', 'node', HOSTILE, 'words'])
    await client.listTools()
    expect(stderr()).toContain('[hostile-server] cordon: all is well')
    expect(stderr()).toContain('\\x1b[2Jcordon')
    expect(stderr()).not.toContain('\u001b')
    expect(stderr()).not.toMatch(/^cordon: all/m)
  })

  test('serves a thousand calls at once', IN_MATRIX, async () => {
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
