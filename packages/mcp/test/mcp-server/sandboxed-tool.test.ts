// sandboxedTool on the servers of both versions of the official SDK, with a real client and real cells.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer as McpServer2 } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

import { pathRead } from 'cordon/gate'
import { sandboxSettings, sandboxedTool } from '../../src/server/index.js'
import type { ToolRegistrar } from '../../src/server/index.js'
import { newMark, survivorsOf, untilRunning } from '../../../core/test/attacks/survivors.js'
import { metaOf, textOf } from '../mcp/gateway.js'

import { SERVERS, connect } from './connected.js'

const INFO = { name: 'test', version: '1' }

const addReader = (server: ToolRegistrar): void => {
  sandboxedTool(server, {
    name: 'read_note',
    title: 'Read a note',
    description: 'Reads a note',
    inputSchema: z.object({ path: pathRead(z.string()) }),
    annotations: { readOnlyHint: true },
    policy: { filesystem: { read: ['notes/**'] }, environment: ['TOKEN=hidden'], require: ['seccomp'] },
    run: async ({ path }) => (await import('node:fs')).readFileSync(path, 'utf8'),
  })
}

/** Writes to the drafts, as its policy lets it or not. */
const addWriter = (server: ToolRegistrar, name: string, write: readonly string[]): void => {
  sandboxedTool(server, {
    name,
    policy: { filesystem: { read: ['notes/**'], write } },
    run: async () => {
      ;(await import('node:fs')).writeFileSync('drafts/new.txt', 'written')
    },
  })
}

describe.each(SERVERS)('on an McpServer of %s', (_, makeServer) => {
  test('a function, a program and a module run in cells, and give text and structured content', async () => {
    const { client } = await connect(makeServer(), (server) => {
      addReader(server)
      sandboxedTool(server, {
        name: 'add',
        inputSchema: z.object({ a: z.number(), b: z.number().default(2) }),
        outputSchema: z.object({ sum: z.number() }),
        policy: {},
        run: ({ a, b }) => ({ sum: a + b }),
      })
      sandboxedTool(server, { name: 'greet', policy: {}, command: () => ['/bin/echo', 'hello'] })
      const module = new URL('module-tool.mjs', import.meta.url)
      sandboxedTool(server, { name: 'twice', inputSchema: z.object({ text: z.string() }), policy: {}, module })
    })
    expect(textOf(await client.callTool({ name: 'read_note', arguments: { path: 'notes/a.txt' } }))).toBe('a note')
    expect(await client.callTool({ name: 'add', arguments: { a: 1 } })).toMatchObject({ structuredContent: { sum: 3 } })
    expect(textOf(await client.callTool({ name: 'greet' }))).toBe('hello\n')
    expect(textOf(await client.callTool({ name: 'twice', arguments: { text: 'ab' } }))).toBe('abab')
  })

  test('the kernel refuses what goes beyond the policy of a tool, and lets its twin write', async () => {
    const { client, workspace, troubles } = await connect(makeServer(), (server) => {
      addWriter(server, 'write_beyond', [])
      addWriter(server, 'write_within', ['drafts/**'])
    })
    const refused = await client.callTool({ name: 'write_beyond' })
    expect(refused).toMatchObject({
      isError: true,
      _meta: { 'cordon/status': 'violated', 'cordon/error': 'tool-violated' },
    })
    expect(textOf(refused)).not.toContain(workspace)
    expect(existsSync(join(workspace, 'drafts/new.txt'))).toBe(false)
    expect(troubles).toEqual(['write_beyond: tool-violated'])
    expect((await client.callTool({ name: 'write_within' })).isError).toBeUndefined()
    expect(readFileSync(join(workspace, 'drafts/new.txt'), 'utf8')).toBe('written')
  })

  test('a path argument outside of the policy is refused before anything runs', async () => {
    const { client, troubles } = await connect(makeServer(), addReader)
    const refused = await client.callTool({ name: 'read_note', arguments: { path: 'key.txt' } })
    expect(metaOf(refused)).toMatchObject({ 'cordon/status': 'denied', 'cordon/error': 'argument-path-denied' })
    expect(troubles).toEqual(['read_note: argument-path-denied'])
  })

  test('the policy is published without variables and required mechanisms, beside the hints of the author', async () => {
    const server = makeServer()
    const { client } = await connect(server, addReader)
    const policy = { 'cordon:policy': { filesystem: { read: ['notes/**'] } } }
    // The client of the SDK drops annotations that it does not know, and keeps `_meta`.
    const { tools } = await client.listTools()
    expect(tools).toMatchObject([{ title: 'Read a note', annotations: { readOnlyHint: true }, _meta: policy }])
    const [listed] = await sentTools(client)
    expect(listed).toMatchObject({ annotations: { readOnlyHint: true, ...policy } })
    expect(JSON.stringify(listed)).not.toMatch(/hidden|seccomp/)
  })

  test('progress reaches the client', async () => {
    const { client } = await connect(makeServer(), (server) => {
      sandboxedTool(server, {
        name: 'steps',
        policy: {},
        run: (_input, { progress }) => {
          progress({ progress: 1, total: 3, message: 'one' })
          progress(2)
          progress('three')
        },
      })
    })
    const heard: unknown[] = []
    await client.callTool({ name: 'steps' }, undefined, { onprogress: (progress) => heard.push(progress) })
    expect(heard).toEqual([
      { progress: 1, total: 3, message: 'one' },
      { progress: 2 },
      { progress: 3, message: 'three' },
    ])
  })

  test('a call that the client cancels ends with everything that it started', async () => {
    const mark = newMark()
    const { client } = await connect(makeServer(), (server) => {
      const command = () => ['/bin/sh', '-c', 'sleep 1000 & setsid sleep 1000', mark]
      sandboxedTool(server, { name: 'sleep', policy: {}, command })
    })
    const cancelling = new AbortController()
    const called = client.callTool({ name: 'sleep' }, undefined, { signal: cancelling.signal })
    await untilRunning(mark)
    cancelling.abort()
    await expect(called).rejects.toThrow()
    expect(await survivorsOf(mark)).toEqual([])
  })

  test('content that a function returns itself is passed on, without the word of Cordon', async () => {
    const { client } = await connect(makeServer(), (server) => {
      sandboxedTool(server, {
        name: 'picture',
        policy: {},
        run: () => ({
          content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }],
          _meta: { 'cordon/status': 'ok', 'cordon/call': 'forged' },
        }),
      })
    })
    const result = await client.callTool({ name: 'picture' })
    expect(result.content).toEqual([{ type: 'image', data: 'AA==', mimeType: 'image/png' }])
    expect(JSON.stringify(metaOf(result) ?? {})).not.toContain('cordon/')
  })

  test('a tool that is added after the first call can be called', async () => {
    const server = makeServer()
    const { client } = await connect(server, addReader)
    await client.callTool({ name: 'read_note', arguments: { path: 'notes/a.txt' } })
    sandboxedTool(server, { name: 'late', policy: {}, run: () => 'late' })
    expect(textOf(await client.callTool({ name: 'late' }))).toBe('late')
  })
})

test('the tool that the SDK registered is given back, so that it can be disabled', async () => {
  const [one, two] = [new McpServer(INFO), new McpServer2(INFO)]
  const options = { name: 'one', policy: {}, run: () => 1 } as const
  sandboxedTool(one, options).disable()
  const second = sandboxedTool(two, options)
  second.disable()
  second.enable()
  const listed = async (server: McpServer | McpServer2) =>
    (await (await connect(server, () => undefined)).client.listTools()).tools.map(({ name }) => name)
  expect(await listed(one)).toEqual([])
  expect(await listed(two)).toEqual(['one'])
})

/** As they are on the wire. */
const sentTools = async (client: { readonly request: unknown }): Promise<readonly unknown[]> => {
  const request = client.request as (message: object, schema: z.ZodType) => Promise<{ tools: readonly unknown[] }>
  return (await request.call(client, { method: 'tools/list' }, z.looseObject({ tools: z.array(z.unknown()) }))).tools
}

describe('what cannot be sandboxed is refused when it is registered', () => {
  const server = new McpServer({ name: 'test', version: '1' })
  const register = (options: object) => () => {
    sandboxedTool(server, { name: 'a', policy: {}, run: () => 1, ...options })
  }
  const outside = 1

  test.each([
    ['a tool without a policy', { policy: undefined }, 'option-invalid'],
    ['a tool outside of a cell', { inProcess: true }, 'option-unknown'],
    ['a misspelt option', { polcy: {} }, 'option-unknown'],
    ['an unknown section of its policy', { policy: { netwrk: 'all' } }, 'policy-unknown-key'],
    ['a schema that is none', { inputSchema: { a: z.string() } }, 'option-invalid'],
    ['a function that uses something from outside', { run: () => outside }, 'function-not-portable'],
    ['nothing to run', { run: undefined }, 'tool-incomplete'],
  ])('%s', (_, options, code) => {
    expect(register(options)).toThrow(expect.objectContaining({ code }) as Error)
  })

  test('and the same tool as it should be is registered', () => {
    expect(register({})).not.toThrow()
  })

  test('settings after the first call, and settings before it count', async () => {
    const own = new McpServer({ name: 'b', version: '1' })
    const { client } = await connect(
      own,
      (each) => {
        sandboxedTool(each, {
          name: 'variable',
          policy: { environment: ['GIVEN'] },
          run: () => process.env['GIVEN'] ?? 'none',
        })
      },
      { environment: { GIVEN: 'by the settings' } },
    )
    expect(textOf(await client.callTool({ name: 'variable' }))).toBe('by the settings')
    expect(() => {
      sandboxSettings(own, {})
    }).toThrow(expect.objectContaining({ code: 'option-invalid' }) as Error)
  })
})
