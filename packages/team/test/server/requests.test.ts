// Requests from any sender: from elsewhere, too large, too slow, malformed.
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openStage } from './stage.js'
import type { Stage } from './stage.js'

const MOST_BYTES = 64 * 1024

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ mostBodyBytes: MOST_BYTES, requestTimeoutMs: 1_500 })
})
afterAll(async () => {
  await stage.close()
})

const me = (headers: Readonly<Record<string, string>>) =>
  stage.ask('GET', '/v1/me', { token: stage.tokens.anna, headers })
const invoke = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  stage.ask('POST', '/v1/teams/acme/invocations', { token: stage.tokens['agent-1'], body, headers })
const CALL = { tool: 'send', agent: 'agent-1', input: { to: 'bob' } }

describe('a request of a page in a browser', () => {
  test("to a foreign name that points here is refused (DNS rebinding), and to the server's own it is answered", async () => {
    const { port } = stage
    for (const host of [
      'evil.example',
      `evil.example:${String(port)}`,
      '127.0.0.1',
      'localhost',
      `127.0.0.1:${String(port + 1)}`,
      `127.0.0.1:${String(port)}.evil.example`,
      `localhost.:${String(port)}`,
    ])
      expect(await me({ host }), host).toMatchObject({ status: 403, json: { code: 'request-refused' } })
    for (const host of [`127.0.0.1:${String(port)}`, `localhost:${String(port)}`, `LOCALHOST:${String(port)}`])
      expect(await me({ host }), host).toMatchObject({ status: 200 })
  })

  test('with two names, or none, is refused', async () => {
    const head = (hosts: string) => `GET /healthz HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`
    const own = `Host: 127.0.0.1:${String(stage.port)}\r\n`
    expect(await stage.raw(head(own))).toMatch(/^HTTP\/1\.1 200 /)
    expect(await stage.raw(head(`${own}Host: evil.example\r\n`))).toMatch(/^HTTP\/1\.1 400 /)
    expect(await stage.raw(head(`Host: evil.example\r\n${own}`))).toMatch(/^HTTP\/1\.1 400 /)
    expect(await stage.raw(head(''))).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('of another site is refused, without a header that its browser would accept', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://localhost:${String(stage.port + 1)}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const answer = await me(headers)
      expect(answer, JSON.stringify(headers)).toMatchObject({ status: 403, json: { code: 'request-refused' } })
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
    expect(
      await stage.ask('OPTIONS', '/v1/me', {
        headers: { 'origin': 'https://evil.example', 'access-control-request-method': 'POST' },
      }),
    ).toMatchObject({ status: 403 })
    expect(await stage.ask('GET', '/openapi.json', { headers: { origin: 'https://evil.example' } })).toMatchObject({
      status: 403,
    })
    expect(
      await me({ 'origin': `http://127.0.0.1:${String(stage.port)}`, 'sec-fetch-site': 'same-origin' }),
    ).toMatchObject({ status: 200 })
  })

  test('that needs no preflight (a form) changes nothing', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/json, text/plain',
      '',
    ])
      expect(await invoke(CALL, { 'content-type': type }), type).toMatchObject({ status: 400 })
    expect(await invoke(CALL, { 'content-type': 'application/json; charset=utf-8' })).toMatchObject({ status: 200 })
  })
})

describe('a body', () => {
  test('that is too large is not read, by its length or its content, and one that just fits is', async () => {
    const fitting = (size: number) => JSON.stringify({ ...CALL, input: { to: 'x'.repeat(size) } })
    expect(await invoke(fitting(MOST_BYTES + 1))).toMatchObject({
      status: 413,
      json: { code: 'request-too-large', params: { limit: MOST_BYTES } },
    })
    const chunked =
      `POST /v1/teams/acme/invocations HTTP/1.1\r\nHost: 127.0.0.1:${String(stage.port)}\r\nAuthorization: ` +
      `Bearer ${stage.tokens['agent-1']}\r\nContent-Type: application/json\r\nTransfer-Encoding: ` +
      `chunked\r\n\r\n20000\r\n${' '.repeat(0x20000)}\r\n`
    expect(await stage.raw(chunked)).toMatch(/^HTTP\/1\.1 413 /)
    expect(await invoke(fitting(MOST_BYTES - 100))).toMatchObject({ status: 200 })
  })

  test('that is too large gets an error text, also if the client sends all of it before it reads', async () => {
    // A process of its own, as callers are: where the connection is closed with something unread in it, it is reset,
    // and the answer is lost.
    const sender = `import socket, sys
head = sys.argv[2].encode().decode('unicode_escape').encode()
for round in range(10):
    with socket.create_connection(('127.0.0.1', int(sys.argv[1]))) as server:
        try:
            server.sendall(head + b'x' * 8388608)
            print(server.recv(12).decode())
        except OSError as error:
            print(error)`
    const head =
      `POST /v1/teams/acme/invocations HTTP/1.1\\r\\nHost: 127.0.0.1:${String(stage.port)}\\r\\nAuthorization: ` +
      `Bearer ${stage.tokens['agent-1']}\\r\\nContent-Type: application/json\\r\\nContent-Length: ` +
      `8388608\\r\\n\\r\\n`
    const { stdout } = await promisify(execFile)('python3', ['-c', sender, String(stage.port), head])
    expect(stdout.trim().split('\n')).toEqual(Array.from({ length: 10 }, () => 'HTTP/1.1 413'))
    // As a client of ours has it: a problem to tell, and no reason to ask again.
    await expect(
      stage
        .as('agent-1')
        .ask('invoke', { team: 'acme', tool: 'send', agent: 'agent-1', input: { to: 'x'.repeat(8 * 1024 * 1024) } }),
    ).rejects.toMatchObject({ code: 'request-too-large' })
    expect(await invoke(CALL)).toMatchObject({ status: 200 })
  })

  test('without authentication is not read at all', async () => {
    const answer = await stage.raw(
      `POST /v1/teams/acme/invocations HTTP/1.1\r\nHost: 127.0.0.1:${String(stage.port)}\r\nContent-Type: ` +
        `application/json\r\nContent-Length: 60000\r\n\r\n{`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(answer.toLowerCase()).toContain('connection: close')
  })

  test.each([
    ['no JSON', '{"tool":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['nothing', ''],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['nested beyond measure', `{"tool":"send","agent":"agent-1","input":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['with a field that nobody knows', { ...CALL, bypass: true }],
    ['with a field of the path', { ...CALL, team: 'other' }],
    ['with a prototype', '{"__proto__":{"tool":"send"},"agent":"agent-1","input":{}}'],
    ['with a number for a name', { ...CALL, tool: 1 }],
    ['with a NUL in a name', { ...CALL, tool: 'send\0' }],
    ['with SQL for a name', { ...CALL, tool: "send'; drop table agents.members; --" }],
    ['without its input', { tool: 'send', agent: 'agent-1' }],
  ])('%s is refused with the mistake', async (_, body) => {
    const answer = await invoke(body)
    expect(answer).toMatchObject({
      status: 400,
      headers: { 'content-type': 'application/problem+json' },
      json: { code: 'request-invalid', fix: expect.any(String) as string },
    })
  })

  test('with input that the database cannot store, or that its schema does not allow, is refused', async () => {
    for (const input of [{ to: 'a\0b' }, { to: 1 }, 'text', null])
      expect(await invoke({ ...CALL, input }), JSON.stringify(input)).toMatchObject({
        status: 409,
        json: { code: 'store-state' },
      })
    expect(await invoke({ ...CALL, input: { to: '\u001b[2J\u202e' } })).toMatchObject({ status: 200 })
  })

  test('that arrives very slowly is dropped, and nobody else waits for it', async () => {
    const slow = connect(stage.port, '127.0.0.1')
    slow.on('error', () => undefined)
    const ended = new Promise<string>((resolve) => {
      let text = ''
      slow.on('data', (chunk) => {
        text += chunk.toString('latin1')
      })
      slow.on('close', () => {
        resolve(text)
      })
    })
    slow.write(
      `POST /v1/teams/acme/invocations HTTP/1.1\r\nHost: 127.0.0.1:${String(stage.port)}\r\nAuthorization: ` +
        `Bearer ${stage.tokens['agent-1']}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
    )
    const drops = setInterval(() => slow.write(' '), 100)
    expect(await invoke(CALL)).toMatchObject({ status: 200 })
    expect(await ended).toMatch(/^(?:HTTP\/1\.1 408 |$)/)
    clearInterval(drops)
  })

  test('is refused for GET', async () => {
    expect(await stage.ask('GET', '/v1/me', { token: stage.tokens.anna, body: '{}' })).toMatchObject({ status: 400 })
  })
})

describe('a path', () => {
  test.each([
    '/',
    '/v1',
    '/v2/me',
    '/v1/me/',
    '//v1/me',
    '/v1/./me',
    '/v1/../v1/me',
    '/v1/%2e%2e/me',
    '/v1/teams/../me',
    '/etc/passwd',
    '/v1/teams/%2e%2e%2f%2e%2e/members/x',
  ])('that does not exist gets that error: %s', async (target) => {
    expect(await stage.ask('GET', target, { token: stage.tokens.anna })).toMatchObject({
      status: 404,
      json: { code: 'route-missing' },
    })
  })

  test.each([
    '/v1/teams/..%2facme/members',
    '/v1/teams/acme%00/members',
    '/v1/teams/%ff/members',
    '/v1/invocations/1',
    '/v1/invocations/..%2f..%2fme',
    '/v1/teams/acme/approvals?most=0',
    '/v1/teams/acme/approvals?most=1&most=2',
    '/v1/teams/acme/approvals?team=other',
    '/v1/teams/acme/approvals?x=1',
  ])('with an invalid name in it is refused: %s', async (target) => {
    expect(await stage.ask('GET', target, { token: stage.tokens.anna })).toMatchObject({
      status: 400,
      json: { code: 'request-invalid' },
    })
  })

  test('of another server, in full, is refused', async () => {
    expect(
      await stage.raw(
        `GET http://evil.example/v1/me HTTP/1.1\r\nHost: 127.0.0.1:${String(stage.port)}\r\nAuthorization: ` +
          `Bearer ${stage.tokens.anna}\r\nConnection: close\r\n\r\n`,
      ),
    ).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('is answered only with its own method', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(await stage.ask(method, '/v1/me', { token: stage.tokens.anna }), method).toMatchObject({ status: 404 })
    expect(await stage.ask('GET', '/v1/me', { token: stage.tokens.anna })).toMatchObject({ status: 200 })
  })

  test('of a tool may contain an encoded slash', async () => {
    await stage.as('ada').ask('registerTool', { team: 'acme', key: 'mail/send', egressClass: 'write' })
    expect(await stage.ask('GET', '/v1/teams/acme/tools/mail%2Fsend', { token: stage.tokens.anna })).toMatchObject({
      status: 200,
      json: { key: 'mail/send' },
    })
  })
})

test('no answer is cached, sniffed or shown as a page', async () => {
  expect((await me({})).headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-type': 'application/json',
  })
})

test('the server had no internal error in all of this', () => {
  expect(stage.reported).toEqual([])
})
