// Starting, waiting, describing and stopping.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { parseListenAddress, serveStore } from '../../src/server/index.js'
import type { ServeSettings, ServedStore } from '../../src/server/index.js'
import { requireSafe } from '../../../core/src/door/index.js'
import { OPERATION_NAMES, openRemoteAccess, operationOf } from '../../src/store/index.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

import { openStage } from './stage.js'
import type { Stage } from './stage.js'

const folder = mkdtempSync(join(tmpdir(), 'cordon-serving-'))
let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(async () => {
  await stage.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('a waiting client', () => {
  test('is answered at a change, and told if there is none', async () => {
    const { id } = await stage.invoke()
    const [agent, anna] = [stage.as('agent-1'), stage.as('anna')]
    const first = await agent.follow('findInvocation', { id }, { waitMs: 0 })
    expect(first?.answer).toMatchObject({ status: 'pending' })
    expect(await agent.follow('findInvocation', { id }, { waitMs: 1_000, known: first?.mark ?? '' })).toBeUndefined()
    const next = agent.follow('findInvocation', { id }, { waitMs: 30_000, known: first?.mark ?? '' })
    await anna.ask('reject', { id, reason: 'no' })
    expect((await next)?.answer).toMatchObject({ status: 'rejected', approvalReason: 'no' })
  })

  test('for approvals hears of new and of answered ones', async () => {
    const anna = stage.as('anna')
    const before = await anna.follow('listQuestions', { team: 'acme' }, { waitMs: 0 })
    const more = anna.follow('listQuestions', { team: 'acme' }, { waitMs: 30_000, known: before?.mark ?? '' })
    const { id } = await stage.invoke({ to: 'carol' })
    const asked = await more
    expect(asked?.answer.map(({ subjectId }) => subjectId)).toContain(id)
    const fewer = anna.follow('listQuestions', { team: 'acme' }, { waitMs: 30_000, known: asked?.mark ?? '' })
    await anna.ask('reject', { id, reason: 'no' })
    expect((await fewer)?.answer.map(({ subjectId }) => subjectId)).not.toContain(id)
  })

  test('that disconnects is dropped', async () => {
    const { id } = await stage.invoke()
    const known = (await stage.as('agent-1').follow('findInvocation', { id }, { waitMs: 0 }))?.mark ?? ''
    const gone = new AbortController()
    const waiting = stage.as('agent-1').follow('findInvocation', { id }, { waitMs: 60_000, known, signal: gone.signal })
    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
  })
})

describe('OpenAPI', () => {
  test('describes every operation with all its fields, without a token', async () => {
    const { status, json } = await stage.ask('GET', '/openapi.json')
    expect(status).toBe(200)
    const { openapi, paths } = json as {
      readonly openapi: string
      readonly paths: Readonly<
        Record<
          string,
          Readonly<
            Record<
              string,
              {
                operationId: string
                parameters: readonly { name: string; in: string }[]
                requestBody?: { content: { 'application/json': { schema: { properties: object } } } }
              }
            >
          >
        >
      >
    }
    expect(openapi).toBe('3.1.0')
    for (const name of OPERATION_NAMES) {
      const { path, method, fields } = operationOf(name)
      const described = paths[path]?.[method.toLowerCase()]
      const given = [
        ...(described?.parameters ?? []).filter((each) => each.in !== 'header').map((each) => each.name),
        ...Object.keys(described?.requestBody?.content['application/json'].schema.properties ?? {}),
      ]
      expect({ name: described?.operationId, given: given.sort() }).toEqual({ name, given: Object.keys(fields).sort() })
    }
  })

  test('has no two operations with the same path and method', () => {
    const places = OPERATION_NAMES.map(
      (name) => `${operationOf(name).method} ${operationOf(name).path.replace(/\{\w+\}/g, '{}')}`,
    )
    expect(new Set(places).size).toBe(places.length)
  })
})

describe('starting the server', () => {
  /** On the store of the stage, which stays open. */
  const begin = (more: Partial<ServeSettings>): Promise<ServedStore> =>
    serveStore({
      engine: { ...stage.engine, close: () => Promise.resolve() },
      version: '0',
      ownerName: 'ada',
      report: () => undefined,
      ...more,
    })

  test('for other hosts needs TLS, or an explicit exception, and a valid token in the store', async () => {
    const everywhere = parseListenAddress('0.0.0.0:0')
    await expect(begin({ listen: everywhere })).rejects.toMatchObject({
      code: 'listen-refused',
      message: expect.stringContaining('in the clear') as string,
    })
    expect(() => {
      requireSafe(everywhere, { hasTls: false, allowsPlainHttp: true, usableTokens: 0 })
    }).toThrow(/no token/)
    expect(() => {
      requireSafe(everywhere, { hasTls: true, allowsPlainHttp: false, usableTokens: 0 })
    }).toThrow(/no token/)
    const served = await begin({ listen: everywhere, allowsPlainHttp: true })
    await served.close()
    expect(served.addresses[0]).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/)
  })

  test('with TLS is reached only by the name of its certificate', async () => {
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    const served = await begin({
      listen: parseListenAddress('0.0.0.0:0'),
      hosts: ['localhost'],
      tls: { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') },
    })
    const port = served.addresses[0]?.split(':').at(-1) ?? ''
    const ask = (host: string, authorities: readonly string[]) =>
      openRemoteAccess({ server: `https://${host}:${port}`, token: stage.tokens.anna, authorities }).ask('whoAmI', {})
    expect(await ask('localhost', [readFileSync(cert, 'utf8')])).toMatchObject({ actor: 'anna' })
    await expect(ask('127.0.0.1', [readFileSync(cert, 'utf8')])).rejects.toMatchObject({ code: 'server-unavailable' })
    await expect(ask('localhost', [])).rejects.toMatchObject({ code: 'server-unavailable' })
    await served.close()
  })

  test('on the socket of a killed process works', async () => {
    const left = join(folder, 'left')
    spawnSync(
      process.execPath,
      [
        '-e',
        `require('net').createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, 'SIGKILL'))`,
      ],
      { stdio: 'ignore', timeout: ENDS_WHAT_HANGS_MS },
    )
    expect(existsSync(left)).toBe(true)
    const served = await begin({ socket: left })
    expect(await openRemoteAccess({ server: `unix:${left}`, actor: 'anna' }).ask('whoAmI', {})).toMatchObject({
      actor: 'anna',
    })
    await served.close()
  })

  test('on a file or a socket in use is refused, and leaves it unchanged', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, 'mine')
    await expect(begin({ socket: file })).rejects.toMatchObject({ code: 'listen-refused' })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    await expect(begin({ socket: stage.socket })).rejects.toMatchObject({
      code: 'listen-refused',
      message: expect.stringContaining('another process') as string,
    })
    await expect(begin({ socket: join(folder, 'x'.repeat(120)) })).rejects.toMatchObject({ code: 'listen-refused' })
    expect(await stage.as('anna').ask('whoAmI', {})).toMatchObject({ actor: 'anna' })
  })

  test.each(['', '7070', 'localhost', ':7070', 'example.org:80', '127.0.0.1:70707', '::1:80', '127.0.0.1:-1'])(
    'on an invalid address is refused: %j',
    (text) => {
      expect(() => parseListenAddress(text)).toThrow(/no address/)
    },
  )
  test.each(['127.0.0.1:0', '[::1]:7070', 'localhost:7070'])('on an address is parsed: %s', (text) => {
    expect(parseListenAddress(text)).toMatchObject({ port: expect.any(Number) as number })
  })
})

test('a token is not sent to another host without TLS', async () => {
  expect(() => openRemoteAccess({ server: 'http://cordon.example.org:7070', token: 'x' })).toThrow(/in the clear/)
  expect(() => openRemoteAccess({ server: 'http://127.0.0.1.example.org:7070', token: 'x' })).toThrow(/in the clear/)
  expect(
    await openRemoteAccess({ server: `http://127.0.0.1:${String(stage.port)}`, token: stage.tokens.anna }).ask(
      'whoAmI',
      {},
    ),
  ).toMatchObject({ actor: 'anna' })
})

// The last one: it ends what the others use.
test('stopping answers waiting clients, and closes the store', async () => {
  const { id } = await stage.invoke()
  const agent = stage.as('agent-1')
  const known = (await agent.follow('findInvocation', { id }, { waitMs: 0 }))?.mark ?? ''
  const waiting = agent.follow('findInvocation', { id }, { waitMs: 60_000, known })
  // Asked later and answered earlier: the one that waits has arrived.
  await agent.ask('findInvocation', { id })
  await stage.served.close()
  expect(await waiting).toBeUndefined()
  expect(existsSync(stage.socket)).toBe(false)
  expect(stage.reported).toEqual([])
})
