// A server that never answers: whoever waits gets a typed error after a default time.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { openServerLink } from '../../src/gateway/server-link.js'
import type { ServerSource } from '../../src/gateway/index.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** It takes everything, and answers requests with these methods. */
const source = (answered: readonly string[]): ServerSource =>
  ({
    name: 'silent',
    speaks: 'stdio',
    url: undefined,
    allowed: new Set(),
    run: (streams) => {
      const write = (bytes: Uint8Array) => {
        const { id, method } = JSON.parse(Buffer.from(bytes).toString()) as { id?: unknown; method: string }
        const answer = `${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`
        if (id !== undefined && answered.includes(method)) streams.onStdout(Buffer.from(answer))
      }
      streams.onStarted({ write, waiting: () => 0, endInput: () => undefined, hold: () => undefined } as never)
      return new Promise((resolve) => {
        streams.signal.addEventListener('abort', () => {
          resolve({ how: 'killed', lastWords: '', advice: () => '' })
        })
      })
    },
  }) as Partial<ServerSource> as ServerSource

const ask = async (method: string, answered: readonly string[]) => {
  const ends: string[] = []
  const link = openServerLink(source(answered), {
    onMessage: () => undefined,
    onTrouble: () => undefined,
    onEnd: (_link, { code }) => ends.push(code),
  })
  const { answer } = link.ask({ jsonrpc: '2.0', id: 0, method, params: {} })
  await vi.advanceTimersByTimeAsync(20 * 60_000)
  const given = await answer
  return { code: given.kind === 'lost' ? given.error.code : 'answered', ends }
}

test.each(['initialize', 'tools/list', 'prompts/list', 'resources/read'])('%s', async (method) => {
  expect((await ask(method, [])).code).toBe('mcp-server-silent')
  expect((await ask(method, [method])).code).toBe('answered')
})

test('a server that is not introduced in time is ended, and one that does not list is not', async () => {
  expect((await ask('initialize', [])).ends).toEqual(['mcp-server-silent'])
  expect((await ask('tools/list', [])).ends).toEqual([])
})
