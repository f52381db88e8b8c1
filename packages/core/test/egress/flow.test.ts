// Limits of what a tool can make the proxy hold: connections, open requests, and unread answers.
import { connect as connectTcp } from 'node:net'
import { Duplex } from 'node:stream'

import { afterEach, describe, expect, test } from 'vitest'

import { createSlots } from '../../src/egress/slots.js'

import { say } from './raw.js'
import { startHttp } from './servers.js'
import type { TestServer } from './servers.js'
import { openStage, rightsOf } from './stage.js'
import type { Stage } from './stage.js'

const LARGE = 64 << 20
const CHUNK = Buffer.alloc(1 << 16)

let stage: Stage
let server: TestServer
afterEach(async () => {
  await stage.close()
  await server.close()
})

/** Answers each request with as much as is taken, and counts what was. */
const startLarge = async (): Promise<{ readonly asked: () => number; readonly taken: () => number }> => {
  const sent: (() => number)[] = []
  server = await startHttp((_, response) => {
    const { socket } = response
    let given = 0
    sent.push(() => given - (socket?.writableLength ?? 0) - response.writableLength)
    const go = (): void => {
      while (given < LARGE && !response.destroyed) {
        given += CHUNK.length
        if (!response.write(CHUNK)) {
          response.once('drain', go)
          return
        }
      }
      response.end()
    }
    response.writeHead(200, { 'content-length': LARGE })
    go()
  })
  return { asked: () => sent.length, taken: () => sent.reduce((sum, each) => sum + Math.max(0, each()), 0) }
}

/** A tool that asks, and takes nothing at all: no buffer of the kernel lies between it and the proxy. */
const stalledTool = (said: string): Duplex => {
  const tool = new Duplex({ allowHalfOpen: true, read: () => undefined, write: () => undefined })
  tool.push(Buffer.from(said))
  return tool
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const quiet = async (value: () => number): Promise<number> => {
  for (let before = -1; ;) {
    const now = value()
    if (now === before) return now
    before = now
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}

describe('a tool that reads nothing', () => {
  test('makes the proxy read only a limited amount from servers, and a tool that reads gets everything', async () => {
    const { asked, taken } = await startLarge()
    const limits = { perCall: 4, perRuntime: 6, always: 1 }
    stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'], limits: { exchanges: limits } })
    const request = `GET / HTTP/1.1\r\nHost: api.test:${server.port}\r\nConnection: close\r\n\r\n`
    const tools = Array.from({ length: 24 }, () => stalledTool(request))
    for (const tool of tools) stage.call.accept(tool, 'api.test', server.port)
    await until(() => asked() >= limits.perCall)
    await quiet(taken)
    expect(asked()).toBe(limits.perCall)
    // Ends of what it holds make room for others, one for one.
    tools[0]?.destroy()
    tools[1]?.destroy()
    await until(() => asked() >= limits.perCall + 2)
    await quiet(taken)
    expect(asked()).toBe(limits.perCall + 2)
    // Offered were 4 × 64 MB. What was taken of each is what the buffers of two sockets and one chunk hold.
    expect(await quiet(taken)).toBeLessThan((limits.perCall + 2) * (LARGE / 4))
    // Another call of the runtime is not shut out.
    const other = await stage.egress.admit({
      ...rightsOf({ network: [`api.test:${server.port}`], here: ['api.test'] }),
      callId: 'call-2',
    })
    const port = await stage.listen((socket) => {
      other.accept(socket, 'api.test', server.port)
    })
    let received = 0
    await new Promise<void>((resolve) => {
      const socket = connectTcp(port, '127.0.0.1')
      socket.write(request)
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length
      })
      socket.on('close', () => {
        resolve()
      })
    })
    expect(received).toBeGreaterThan(LARGE)
    await other.end()
  })

  test('cannot exceed its connections, which is recorded, and another call still gets some', async () => {
    server = await startHttp((_, response) => {
      response.end('well')
    })
    const limits = { perCall: 3, perRuntime: 5, always: 2 }
    const rights = { network: [`api.test:${server.port}`], here: ['api.test'] }
    stage = await openStage({ ...rights, limits: { connections: limits } })
    const port = await stage.portTo('api.test', server.port)
    const request = `GET / HTTP/1.1\r\nHost: api.test:${server.port}\r\nConnection: close\r\n\r\n`
    const held = Array.from({ length: 3 }, () => stalledTool(''))
    for (const tool of held) stage.call.accept(tool, 'api.test', server.port)
    expect(await say(port, request)).toBe('')
    expect(stage.violations()).toMatchObject([{ host: 'api.test', port: server.port, reason: 'too-many' }])
    expect(await say(stage.proxyPort, request)).toBe('')
    expect(stage.violations()).toHaveLength(2)
    const other = await stage.egress.admit({ ...rightsOf(rights), callId: 'call-2' })
    const otherPort = await stage.listen((socket) => {
      other.accept(socket, 'api.test', server.port)
    })
    other.accept(stalledTool(''), 'api.test', server.port)
    expect(await say(otherPort, request)).toContain('well')
    held[0]?.destroy()
    await new Promise((resolve) => setImmediate(resolve))
    expect(await say(port, request)).toContain('well')
    await other.end()
  })
})

describe('connection slots', () => {
  test('are given to calls in turn, but not to one that waited too long or went away', async () => {
    stage = await openStage({ network: 'none' })
    server = await startHttp(() => undefined)
    const signal = new AbortController().signal
    const slots = createSlots({ perCall: 3, perRuntime: 3, always: 1 }, 20)
    const all = ['a', 'a', 'a'].map((call) => slots.take(call))
    expect(slots.take('a')).toBeUndefined()
    const order: string[] = []
    const patient = createSlots({ perCall: 3, perRuntime: 3, always: 1 })
    const taken = ['a', 'a', 'a'].map((call) => patient.take(call))
    const second = patient.take('b')
    expect(second).toBeDefined()
    for (const call of ['a', 'a', 'b', 'b'])
      void patient.wait(call, signal).then((leave) => order.push(leave === undefined ? 'none' : call))
    second?.()
    for (const leave of taken) leave?.()
    await new Promise((resolve) => setImmediate(resolve))
    expect(order).toEqual(['b', 'a', 'b'])
    const gone = new AbortController()
    const waits = [slots.wait('a', signal), slots.wait('a', gone.signal)]
    gone.abort()
    expect(await Promise.all(waits)).toEqual([undefined, undefined])
    all[0]?.()
    all[0]?.()
    expect(slots.take('a')).toBeDefined()
    expect(slots.take('a')).toBeUndefined()
  })
})
