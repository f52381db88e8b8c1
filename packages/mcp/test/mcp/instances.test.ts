// Each distinct policy of a server's tools has a process of its own, in a cell of exactly that policy. So a lax or
// hostile server reaches through one tool nothing that only another one has.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, onTestFinished, test } from 'vitest'

import { HOSTILE, folderWith, metaOf, openGateway, serverScript, textOf } from './gateway.js'

const FILES = { 'a/f': 'of a', 'b/f': 'of b' }

interface Reached {
  readonly read: string
  readonly write: string
  readonly variable: string
  readonly remembered: string
  readonly others: number
  readonly sent: string | number
}

/** A hostile server with these settings. */
const openHostile = async (
  settings: Readonly<Record<string, unknown>>,
  words: readonly string[] = [],
  mode = 'plain',
) => {
  const config = folderWith({ 'cordon/mcp.yaml': JSON.stringify({ servers: { hostile: settings } }) })
  const folder = folderWith(FILES)
  const log = join(config, 'audit.jsonl')
  const { client, stderr } = await openGateway(
    folder,
    ['--server', 'hostile', ...words, '--', 'node', HOSTILE, mode],
    { elicitation: {} },
    undefined,
    { XDG_CONFIG_HOME: config, CORDON_AUDIT: log },
  )
  const call = (name: string, given: Readonly<Record<string, unknown>> = {}) =>
    client.callTool({ name, arguments: given })
  return {
    folder,
    client,
    stderr,
    call,
    reach: async (name: string, given: Readonly<Record<string, unknown>> = {}) =>
      JSON.parse(textOf(await call(name, given))) as Reached,
    /** The scopes of the calls so far. */
    scopes: () =>
      [...readFileSync(log, 'utf8').matchAll(/"scope":"(call|policy|server)","sealed"/g)].map(([, scope]) => scope),
  }
}

const listening = async (): Promise<number> => {
  const server = createServer((_, response) => response.end('ok'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe.each(['namespaces', 'landlock'])('in the form %s', (form) => {
  test.each(['policy', 'call'] as const)('a tool reaches nothing that only another one has, per %s', async (scope) => {
    const port = String(await listening())
    const tools = {
      narrow: { filesystem: { read: ['a/**'] } },
      wide: {
        filesystem: { read: ['a/**', 'b/**'], write: ['b/**'] },
        network: [{ host: `wide.test:${port}`, methods: ['GET'] }],
        environment: ['WORD=of the wide one'],
      },
    }
    const { folder, reach, scopes } = await openHostile(
      { tools, ...(scope === 'call' ? { fresh: ['narrow', 'wide'] } : {}) },
      ['--form', form, '--resolve', 'wide.test=127.0.0.1'],
    )
    const given = { variable: 'WORD', remember: 'a secret', read: 'b+f', host: 'wide.test', port }
    const wide = await reach('wide', { ...given, write: 'b+new' })
    expect(wide).toMatchObject({ read: 'of b', write: 'written', variable: 'of the wide one', sent: 200 })
    const narrow = await reach('narrow', { ...given, write: 'b+other' })
    expect(narrow).toMatchObject({ variable: 'unset', remembered: 'nothing' })
    expect(narrow.read).toMatch(/ENOENT|EACCES/)
    expect(narrow.write).toMatch(/ENOENT|EACCES|EROFS/)
    expect(narrow.sent).not.toBe(200)
    expect(await reach('narrow', { read: 'a+f' })).toMatchObject({ read: 'of a' })
    expect(scopes()).toEqual([scope, scope, scope])
    expect([existsSync(join(folder, 'b/new')), existsSync(join(folder, 'b/other'))]).toEqual([true, false])
  })
})

test('tools with equal policies share an instance, others do not', async () => {
  const read = { filesystem: { read: ['a/**'] } }
  const { reach, call, scopes } = await openHostile({ tools: { narrow: read, wide: read, echo: 'server' } })
  await reach('narrow', { remember: 'a word' })
  expect((await reach('wide')).remembered).toBe('a word')
  expect(textOf(await call('echo', { words: 'base' }))).toBe('base')
  expect(scopes()).toEqual(['policy', 'policy', 'policy'])
})

test('a server with one policy for all its tools has one process', async () => {
  const { reach, scopes } = await openHostile({ policy: { filesystem: { read: ['a/**'] } }, tools: { '*': 'server' } })
  await reach('narrow', { remember: 'a word' })
  expect(await reach('wide', { read: 'a+f' })).toMatchObject({ remembered: 'a word', read: 'of a' })
  expect(scopes()).toEqual(['server', 'server'])
})

test('`together` gives tools one instance, with the policies of all of them', async () => {
  const { reach } = await openHostile({
    tools: { narrow: { filesystem: { read: ['a/**'] } }, wide: { filesystem: { read: ['b/**'] } } },
    together: ['narrow', 'wide'],
  })
  expect(await reach('narrow', { read: 'b+f', remember: 'a word' })).toMatchObject({ read: 'of b' })
  expect(await reach('wide', { read: 'a+f' })).toMatchObject({ read: 'of a', remembered: 'a word' })
})

test('`fresh` gives each call a process of its own, also many at once', async () => {
  const { reach, scopes } = await openHostile({ tools: { narrow: {} }, fresh: ['narrow'] })
  const calls = await Promise.all(Array.from({ length: 20 }, (_, at) => reach('narrow', { remember: String(at) })))
  expect(calls.map(({ remembered }) => remembered)).toEqual(Array.from({ length: 20 }, () => 'nothing'))
  expect(new Set(scopes())).toEqual(new Set(['call']))
})

test('an instance that dies is started again for the next call, and the others go on', async () => {
  const { call, reach } = await openHostile({
    tools: { die: {}, narrow: {}, wide: { filesystem: { read: ['a/**'] } } },
  })
  await reach('wide', { remember: 'a word' })
  expect(metaOf(await call('die'))).toMatchObject({ 'cordon/error': 'mcp-server-ended' })
  expect((await reach('narrow')).remembered).toBe('nothing')
  expect((await reach('wide')).remembered).toBe('a word')
})

test('an instance that offers a tool differently does not get its call', async () => {
  const tools = { narrow: { filesystem: { read: ['a/**'] } }, wide: { filesystem: { read: ['b/**'] } } }
  const { call, reach, stderr } = await openHostile({ tools }, [], 'differs')
  expect(metaOf(await call('wide'))).toMatchObject({ 'cordon/error': 'mcp-offer-held' })
  expect(stderr()).toContain('it is not what was consented to')
  expect((await reach('wide').catch(() => undefined))?.read).toBeUndefined()
})

test('clients see and call only tools that are exposed', async () => {
  const { client, call } = await openHostile({ tools: { '*': 'server' }, expose: ['na*', 'echo'] })
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'narrow'])
  await expect(call('wide')).rejects.toThrow(/no such tool/)
  expect(textOf(await call('echo', { words: 'a word' }))).toBe('a word')
})

test('a resource is read where a result named it', async () => {
  const { client, reach } = await openHostile({ tools: { narrow: {} } }, [], 'resources')
  await reach('narrow', { remember: 'made by an instance' })
  const { contents } = await client.readResource({ uri: 'made://here' })
  expect(contents).toMatchObject([{ text: 'made by an instance' }])
})

test('a question of an instance reaches the client, and its answer that instance', async () => {
  const { client, call } = await openHostile({ tools: { ask: {} }, allow: ['elicitation'] })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }))
  expect(textOf(await call('ask', { method: 'elicitation/create', message: 'Which one?' }))).toContain('accept')
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
  expect((await call('write_file', { path: 'pages/new.md', content })).isError).toBe(true)
  expect((await call('read_text_file', { path: 'out/later.md' })).isError).toBe(true)
})
