// The tool is told if the server is at fault, or cannot speak the tool's protocol.
import { connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { afterEach, describe, expect, test } from 'vitest'

import { heard, say } from './raw.js'
import { echo, startHttp, startHttps, startTcp } from './servers.js'
import type { TestServer } from './servers.js'
import { openStage } from './stage.js'
import type { Stage } from './stage.js'

let stage: Stage
let server: TestServer
afterEach(async () => {
  await stage.close()
  await server.close()
})

const open = async (started: TestServer): Promise<number> => {
  server = started
  stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
  return stage.portTo('api.test', server.port)
}

const post = (): string =>
  `POST / HTTP/1.1\r\nHost: api.test:${server.port}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`

describe('an unusable answer', () => {
  test.each([
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
    ['something else than HTTP', 'hello\r\n\r\n'],
    ['no answer at all', ''],
  ])('is reported as such, not as a request that was not sent: %s', async (_, answer) => {
    const got: string[] = []
    const port = await open(
      await startTcp((socket: Socket) => {
        socket.on('data', (chunk: Buffer) => {
          got.push(chunk.toString('latin1'))
          if (chunk.toString('latin1').endsWith('x')) socket.end(answer)
        })
      }),
    )
    const told = await say(port, post())
    expect(got.join('')).toContain('POST / HTTP/1.1')
    expect(told).toMatch(/^HTTP\/1\.1 502 /)
    expect(told).toContain('The request was sent')
    expect(told).toContain('Check that before you repeat a request that changes something')
    expect(told).not.toContain('not sent')
    const problems = stage.events.flatMap((event) => (event.type === 'egress.request' ? [event.problem] : []))
    expect(problems).toEqual([answer === '' ? 'upstream-broke' : 'answer-malformed'])
  })

  test('differs from an unreadable request, and a good answer passes', async () => {
    const port = await open(await startHttp(echo))
    expect(await say(port, 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx')).toContain(
      'invalid or ambiguous',
    )
    expect(server.connections()).toBe(0)
    expect(await say(port, post())).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('HTTP/2 without TLS', () => {
  const ask = (port: number, path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const session = connect(`http://api.test:${server.port}`, {
        createConnection: () => connectTcp(port, '127.0.0.1'),
      })
      session.on('error', reject)
      const stream = session.request({ ':path': path })
      let text = ''
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      stream.on('error', reject).on('end', () => {
        session.destroy()
        resolve(text)
      })
    })

  test('reaches a server that speaks only HTTP/1.1', async () => {
    const port = await open(await startHttp(echo))
    expect(JSON.parse(await ask(port, '/one'))).toMatchObject({ url: '/one', httpVersion: '1.1' })
    expect(JSON.parse(await ask(port, '/two'))).toMatchObject({ url: '/two', httpVersion: '1.1' })
  })

  test('is refused by a server that speaks neither, with that reason', async () => {
    const port = await open(
      await startTcp((socket) => {
        socket.end('220 ready\r\n')
      }),
    )
    expect(await ask(port, '/')).toContain('The request was sent, but the response cannot be used')
  })
})

describe('a tool that does not trust the proxy', () => {
  test('is recorded as such, and a tool that trusts it is not', async () => {
    const port = await open(await startHttps(echo))
    const greet = (ca: string | undefined): Promise<string> =>
      new Promise((resolve) => {
        const socket = connectTls({
          port,
          host: '127.0.0.1',
          servername: 'api.test',
          ...(ca === undefined ? {} : { ca }),
        })
        socket.once('error', (error: Error & { code?: string }) => {
          resolve(error.code ?? error.message)
        })
        socket.once('secureConnect', () => {
          socket.end(`GET / HTTP/1.1\r\nHost: api.test:${server.port}\r\nConnection: close\r\n\r\n`)
          void heard(socket).then(resolve)
        })
      })
    const problems = (): readonly (string | null)[] =>
      stage.events.flatMap((event) => (event.type === 'egress.closed' ? [event.problem] : []))
    expect(await greet(undefined)).toMatch(/^(?:SELF_SIGNED|UNABLE_TO)/)
    await expect.poll(problems).toHaveLength(1)
    expect(await greet(stage.egress.authorityCertificate)).toContain('200 OK')
    await expect.poll(problems).toEqual(['proxy-untrusted', null])
  })
})
