// Protocols other than HTTP, on a port that is granted by its number.
import { connect as connectTcp } from 'node:net'

import { afterEach, describe, expect, test } from 'vitest'

import { heard, openTls, say } from './raw.js'
import { startTcp } from './servers.js'
import type { TestServer } from './servers.js'
import { openStage } from './stage.js'
import type { Stage } from './stage.js'

let stage: Stage
let server: TestServer
afterEach(async () => {
  await stage.close()
  await server.close()
})

describe('a stream', () => {
  test('passes on the end of one direction', async () => {
    server = await startTcp((socket) => {
      let size = 0
      socket.on('data', (chunk: Buffer) => {
        size += chunk.length
      })
      socket.on('end', () => socket.end(String(size)))
    })
    stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
    const socket = connectTcp({
      port: await stage.portTo('api.test', server.port),
      host: '127.0.0.1',
      allowHalfOpen: true,
    })
    socket.end(Buffer.alloc(3_000_000))
    expect(await heard(socket, 5_000)).toBe('3000000')
  })

  test('waits for a slow reader instead of buffering', async () => {
    let sent = 0
    server = await startTcp((socket) => {
      const chunk = Buffer.alloc(65_536)
      const go = (): void => {
        for (let isWelcome = true; isWelcome && sent < 400_000_000; sent += chunk.length)
          isWelcome = socket.write(chunk)
        socket.once('drain', go)
      }
      socket.once('data', go)
    })
    stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
    const socket = connectTcp(await stage.portTo('api.test', server.port), '127.0.0.1')
    socket.pause()
    socket.write('\0')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const before = sent
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(sent).toBe(before)
    expect(sent).toBeLessThan(60_000_000)
    socket.destroy()
  })

  test('of text passes without the end of its first line, unless it is a request after all', async () => {
    const got: string[] = []
    server = await startTcp((socket) => {
      socket.on('data', (chunk: Buffer) => {
        got.push(chunk.toString('latin1'))
        if (chunk.toString() === 'PING') socket.write('PONG')
      })
    })
    stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
    const port = await stage.portTo('api.test', server.port)
    expect(await say(port, 'PING')).toBe('PONG')
    expect(await say(port, '{"method":')).toBe('')
    expect(got).toEqual(['PING', '{"method":'])
    got.length = 0
    const inTwoPieces = async (first: string, rest: string, pause: number): Promise<void> => {
      const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.write(first)
      await new Promise((resolve) => setTimeout(resolve, pause))
      socket.end(rest)
      await heard(socket)
    }
    const pieces = [
      ['GET /', ' HTTP/1.1\r\nHost: other.test\r\n\r\n'],
      ['GET / HT', 'TP/1.1\r\nHost: other.test\r\n\r\n'],
      ['PRI * HTTP/2.0\r\n\r', '\nSM\r\n\r\n'],
    ] as const
    await Promise.all(pieces.flatMap(([first, rest]) => [300, 1_000].map((pause) => inTwoPieces(first, rest, pause))))
    expect(got.filter((piece) => piece.includes('other.test') || piece.includes('SM'))).toEqual([])
    expect(stage.violations().map(({ reason }) => reason)).toEqual(expect.arrayContaining(['mismatch', 'protocol']))
  })

  test.each(['SSH-2.0-server\r\n', '220 ready\r\n', 'J\0\0\0\n8.0'])(
    'in which the server speaks first passes: %j',
    async (greeting) => {
      server = await startTcp((socket) => {
        socket.write(greeting, 'latin1')
        socket.on('data', (chunk: Buffer) => socket.end(`<${chunk.toString('latin1')}>`))
      })
      stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
      const socket = connectTcp({
        port: await stage.portTo('api.test', server.port),
        host: '127.0.0.1',
        allowHalfOpen: true,
      })
      socket.once('data', () => socket.write('SSH-2.0-client\r\n'))
      expect(await heard(socket)).toBe(`${greeting}<SSH-2.0-client\r\n>`)
    },
  )

  test('inside TLS passes, and the certificate of the server is checked', async () => {
    const { createServer } = await import('node:tls')
    const { contextOf } = await import('./servers.js')
    for (const [name, expected] of [
      ['api.test', 'hello'],
      ['other.test', ''],
    ] as const) {
      const tls = createServer(
        {
          SNICallback: (_, answer) => {
            answer(null, contextOf(name))
          },
        },
        (socket) => {
          socket.on('error', () => undefined)
          socket.write('hello')
        },
      )
      const port = await new Promise<number>((resolve) =>
        tls.listen(0, '127.0.0.1', () => {
          resolve((tls.address() as { port: number }).port)
        }),
      )
      server = await startTcp(() => undefined)
      stage = await openStage({ network: [`api.test:${port}`], here: ['api.test'] })
      expect(await heard(await openTls(stage, { host: 'api.test', port, protocols: [] }), 1_000)).toBe(expected)
      await new Promise<void>((resolve) =>
        tls.close(() => {
          resolve()
        }),
      )
      if (name === 'api.test') {
        await stage.close()
        await server.close()
      }
    }
  })
})
