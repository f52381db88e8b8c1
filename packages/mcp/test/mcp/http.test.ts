// The gateway over HTTP: who is let in, and whom an answer is for.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { folderWith } from './gateway.js'
import { INITIALIZE, META, ask, errorOf, post, resultOf, saidIn } from './http-client.js'
import type { Fields } from './http-client.js'
import { listening } from './listening.js'

describe('who is let in', () => {
  test('a request for a foreign host is refused, and one for this host is not', async () => {
    const url = await listening('stateless')
    expect((await post(url, INITIALIZE, { host: 'evil.example' })).status).toBe(403)
    expect((await post(url, INITIALIZE, { host: `localhost:${new URL(url).port}` })).status).toBe(200)
  })

  test('a request from a page of another site is refused, and one without a page is not', async () => {
    const url = await listening('stateless')
    expect((await post(url, INITIALIZE, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(url, INITIALIZE, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await post(url, INITIALIZE)).status).toBe(200)
  })

  test('a form of a web page cannot send a message', async () => {
    const url = await listening('stateless')
    expect((await post(url, INITIALIZE, { 'content-type': 'text/plain' })).status).toBe(415)
  })

  test('without the token nobody is answered, and with it a client is', async () => {
    const folder = folderWith({})
    const file = join(folder, 'token')
    writeFileSync(file, 'a-token-of-many-letters-1234\n', { mode: 0o600 })
    const url = await listening('stateless', ['--token', file])
    expect((await post(url, INITIALIZE)).status).toBe(401)
    expect((await post(url, INITIALIZE, { authorization: 'Bearer a-token-of-many-letters-1235' })).status).toBe(401)
    const right = await post(url, INITIALIZE, { authorization: 'Bearer a-token-of-many-letters-1234' })
    expect(right.status).toBe(200)
    expect(right.headers['mcp-session-id']).toEqual(expect.any(String))
  })

  test('a token that others can read, or none at all, is refused with a fix', async () => {
    const file = join(folderWith({ token: 'a-token-of-many-letters-1234' }), 'token')
    await expect(listening('stateless', ['--token', file])).rejects.toThrow('chmod 600')
    await expect(listening('stateless', [])).rejects.toThrow('--token none')
  })

  test('a session that nobody opened is not found', async () => {
    const url = await listening('session')
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    expect((await post(url, list)).status).toBe(400)
    expect((await post(url, list, { 'mcp-session-id': 'invented' })).status).toBe(404)
    const { headers } = await post(url, INITIALIZE)
    const own = await post(url, list, { 'mcp-session-id': String(headers['mcp-session-id']) })
    expect(own.status).toBe(200)
  })
})

describe('a request without a session', () => {
  test('of another version is answered with the versions that are served', async () => {
    const url = await listening('stateless')
    const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' }
    const answered = await ask(url, 'tools/list', {}, { meta, headers: { 'mcp-protocol-version': '1999-01-01' } })
    expect(answered.status).toBe(400)
    expect(errorOf(answered)).toMatchObject({ code: -32022, data: { requested: '1999-01-01' } })
    expect(JSON.stringify(errorOf(answered))).toContain('2026-07-28')
  })

  test('whose headers say something else than its body does not run', async () => {
    const url = await listening('stateless')
    const call = { name: 'echo', arguments: { said: 'hi' } }
    for (const headers of [
      { 'mcp-name': 'greet' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-protocol-version': '2025-11-25' },
    ]) {
      const answered = await ask(url, 'tools/call', call, { headers })
      expect(answered.status).toBe(400)
      expect(errorOf(answered)).toMatchObject({ code: -32020 })
    }
    expect(saidIn(await ask(url, 'tools/call', call))).toContain('hi')
  })

  test('gets its own answer, also if another client uses the same id', async () => {
    const url = await listening('session')
    const said = await Promise.all(
      ['one', 'two', 'three'].map((word) => ask(url, 'tools/call', { name: 'echo', arguments: { said: word } })),
    )
    expect(said.map((each) => /one|two|three/.exec(saidIn(each))?.[0])).toEqual(['one', 'two', 'three'])
  })
})

for (const era of ['session', 'stateless'])
  describe(`a question of a ${era} server`, () => {
    const CALL = { name: 'greet', arguments: {} }
    const asked = async (url: string) => {
      const answered = await ask(url, 'tools/call', CALL)
      const result = resultOf(answered)
      expect(result).toMatchObject({ resultType: 'input_required' })
      const [key = ''] = Object.keys(result['inputRequests'] as Fields)
      return { key, state: String(result['requestState']) }
    }
    const answer = (key: string, requestState: string, params: Fields = CALL): Fields => ({
      ...params,
      requestState,
      inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } },
    })

    test('is answered once: the same state again runs nothing', async () => {
      const url = await listening(era)
      const { key, state } = await asked(url)
      expect(state).not.toContain('the state of the server')
      expect(saidIn(await ask(url, 'tools/call', answer(key, state)))).toContain('Hello Ada')
      const again = await ask(url, 'tools/call', answer(key, state))
      expect(errorOf(again)).toMatchObject({ code: -32602 })
    })

    test('is not answered with an altered state, nor for another call', async () => {
      const url = await listening(era)
      const { key, state } = await asked(url)
      const altered = await ask(
        url,
        'tools/call',
        answer(key, `${state.slice(0, -1)}${state.endsWith('0') ? '1' : '0'}`),
      )
      expect(errorOf(altered)).toMatchObject({ code: -32602 })
      const other = { name: 'echo', arguments: { said: 'hi' } }
      expect(errorOf(await ask(url, 'tools/call', answer(key, state, other)))).toMatchObject({ code: -32602 })
      expect(saidIn(await ask(url, 'tools/call', answer(key, state)))).toContain('Hello Ada')
    })

    test('does not reach a client that cannot answer it', async () => {
      const url = await listening(era)
      const meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': {} }
      const answered = await ask(url, 'tools/call', CALL, { meta })
      expect(resultOf(answered)['resultType']).not.toBe('input_required')
    })
  })
