// Servers for clients in a cell, as far as the clients need them: PostgreSQL, git, WebSocket and event streams.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { startHttps, startTcp } from '../egress/servers.js'
import type { Handle, TestServer } from '../egress/servers.js'

const message = (kind: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5)
  head.write(kind, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])
const int32 = (value: number): Buffer => Buffer.concat([int16(value >>> 16), int16(value & 0xffff)])
const READY = message('Z', Buffer.from('I'))
const COLUMN = Buffer.concat([
  Buffer.from('said\0'),
  int32(0),
  int16(0),
  int32(25),
  int16(0xffff),
  int32(0xffff_ffff),
  int16(0),
])

/** PostgreSQL 3.0, for whoever asks one question: no encryption, no password, one row. */
export const startPostgres = (): Promise<TestServer> =>
  startTcp((socket) => {
    let held = Buffer.alloc(0)
    let isStarted = false
    const take = (): boolean => {
      const at = isStarted ? 1 : 0
      if (held.length < at + 4 || held.length < at + held.readInt32BE(at)) return false
      const body = held.subarray(at + 4, at + held.readInt32BE(at))
      const kind = isStarted ? String.fromCharCode(held[0] ?? 0) : 'start'
      held = held.subarray(at + 4 + body.length)
      if (kind === 'start' && body.length === 4) socket.write('N')
      else if (kind === 'start') {
        isStarted = true
        socket.write(
          Buffer.concat([message('R', int32(0)), message('S', Buffer.from('server_version\x0015.0\0')), READY]),
        )
      } else if (kind === 'Q') {
        const said = body.subarray(0, -1)
        socket.write(
          Buffer.concat([
            message('T', int16(1), COLUMN),
            message('D', int16(1), int32(said.length), said),
            message('C', Buffer.from('SELECT 1\0')),
            READY,
          ]),
        )
      } else socket.end()
      return held.length > 0
    }
    socket.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      while (take());
    })
  })

/** A repository with one file, as files behind https. */
export const serveRepository = (folder: string): Handle => {
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@test', ...args], {
      cwd: folder,
      stdio: 'ignore',
    })
  }
  git('init', '-q', 'work')
  execFileSync('/bin/sh', ['-c', 'echo cloned > work/file'], { cwd: folder })
  git('-C', 'work', 'add', 'file')
  git('-C', 'work', 'commit', '-qm', 'one')
  git('clone', '-q', '--bare', 'work', 'repository.git')
  git('-C', 'repository.git', 'update-server-info')
  return (request, response) => {
    try {
      response.end(readFileSync(join(folder, new URL(request.url ?? '/', 'https://api.test').pathname)))
    } catch {
      response.writeHead(404).end()
    }
  }
}

/** Three events, one after the other, and a WebSocket that says back what it hears. */
export const startLively = (): Promise<TestServer> =>
  startHttps(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      let count = 0
      const timer = setInterval(() => {
        response.write(`data: ${String(++count)}\n\n`)
        if (count < 3) return
        clearInterval(timer)
        response.end()
      }, 30)
    },
    {
      onUpgrade: (request, socket) => {
        const key = request.headers['sec-websocket-key'] ?? ''
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: ` +
            `Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
        )
        socket.on('data', (frame: Buffer) => {
          const masked = frame.subarray(6).map((byte, at) => byte ^ (frame[2 + (at & 3)] ?? 0))
          socket.write(Buffer.concat([Buffer.from([0x81, masked.length]), masked]))
        })
      },
    },
  )
