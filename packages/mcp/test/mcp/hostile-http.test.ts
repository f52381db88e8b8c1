// A hostile server over HTTP: each deed ends in a typed error or in its answer, and the gateway goes on.
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { folderWith, metaOf, openGateway, textOf } from './gateway.js'
import type { Opened } from './gateway.js'

const HOSTILE_HTTP = fileURLToPath(new URL('hostile-http-server.mjs', import.meta.url))
const PORT = 47_331
const MEGABYTE = 1024 * 1024

const open = (): Promise<Opened> =>
  openGateway(folderWith({ 'tools.yaml': '"*": server\n' }), [
    ...['--tools', 'tools.yaml', '--server', 'mine', '--publish', `${PORT}`],
    ...['--', 'node', HOSTILE_HTTP, `${PORT}`],
  ])

const call = ({ client }: Opened, name: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> =>
  client.callTool({ name, arguments: args })

describe('a hostile server over HTTP', () => {
  test('gets a typed error for each wrong answer, and its other calls go on', async () => {
    const opened = await open()
    for (const [deed, code, words] of [
      ['redirect', 'mcp-http-failed', 'redirects are not followed'],
      ['page', 'mcp-http-failed', 'content type'],
      ['garbage', 'mcp-http-failed', 'not a message'],
      ['broken-event', 'mcp-http-failed', undefined],
      ['nobody', 'mcp-http-failed', 'not this request'],
      ['cut', 'mcp-http-failed', 'ended its stream before it answered'],
      ['accepted', 'mcp-http-failed', 'HTTP 202'],
      ['fault', 'mcp-http-failed', 'HTTP 500'],
      ['endless', 'mcp-http-failed', undefined],
      ['login', 'mcp-http-failed', 'HTTP 401'],
      ['rights', 'mcp-http-failed', 'HTTP 403'],
    ] as const) {
      const before = opened.stderr().length
      const error: unknown = await call(opened, deed).catch((thrown: unknown) => thrown)
      expect([deed, error]).toEqual([deed, expect.objectContaining({ data: { 'cordon/error': code } })])
      // The same trouble is reported once.
      if (words !== undefined) await expect.poll(() => opened.stderr().slice(before)).toContain(words)
    }
    expect(textOf(await call(opened, 'echo', { words: 'still here' }))).toBe('still here')
  }, 60_000)

  test('is read as the standard says: several lines, comments, two answers, a lost stream', async () => {
    const opened = await open()
    expect(textOf(await call(opened, 'events'))).toBe('in lines')
    expect(textOf(await call(opened, 'twice'))).toBe('first')
    expect(textOf(await call(opened, 'resume'))).toBe('resumed')
    expect(textOf(await call(opened, 'flood'))).toBe('flooded')
  })

  test.each(['json', 'event'])(
    'sends and gets messages of 9 MB, and an error beyond what clients take (%s)',
    async (as) => {
      const opened = await open()
      const bytes = 9 * MEGABYTE
      expect(textOf(await call(opened, 'large', { bytes, as }))).toHaveLength(bytes)
      expect(metaOf(await call(opened, 'large', { bytes: 20 * MEGABYTE, as }))).toMatchObject({
        'cordon/error': 'mcp-message-too-long',
      })
      expect(textOf(await call(opened, 'echo', { words: 'y'.repeat(bytes) }))).toHaveLength(bytes)
    },
  )

  test('gets no cookie back that it set', async () => {
    expect(textOf(await call(await open(), 'cookies'))).toBe('undefined')
  })

  test('answers 300 calls at once, while one hangs', async () => {
    const opened = await open()
    const hanging = new AbortController()
    const hung = opened.client
      .callTool({ name: 'hang', arguments: {} }, undefined, { signal: hanging.signal })
      .catch(() => 'cancelled')
    const words = Array.from({ length: 300 }, (_, at) => `call ${at}`)
    const said = await Promise.all(words.map(async (each) => textOf(await call(opened, 'echo', { words: each }))))
    expect(said).toEqual(words)
    hanging.abort('enough')
    expect(await hung).toBe('cancelled')
    await expect.poll(async () => textOf(await call(opened, 'cancelled'))).toBe('[null]')
  })

  test.each(['gone', 'die'])(
    'that ends the session, or itself (%s), is reported as ended, and started again',
    async (deed) => {
      const opened = await open()
      // Either of these calls meets the end, or only the gateway does, if it notices it between them.
      for (const name of [deed, 'echo']) await call(opened, name).catch(() => undefined)
      await expect.poll(() => opened.stderr()).toContain('mcp-server-ended')
      expect(opened.stderr()).toContain(deed === 'gone' ? 'the server has ended the session' : 'exit 3')
      expect(textOf(await call(opened, 'echo', { words: 'again' }))).toBe('again')
    },
  )
})
