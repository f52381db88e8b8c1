// Answers of a database, and errors while they are read. A relay between the driver and a real server answers
// whatever a test needs.
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Server as NetServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openPostgres } from '../../src/store/index.js'
import type { Engine } from '../../src/store/index.js'
import { guardAnswers } from '../../src/store/engine/answer-guard.js'

import { startServer } from './server.js'
import type { Server } from './server.js'

const SOCKET = '.s.PGSQL.5432'
const folder = mkdtempSync(join(tmpdir(), 'cordon-between-'))
let database: Server
let between: NetServer
let engine: Engine
/** What is told instead of the next answer; nothing: the connection ends in the middle of it. */
let instead: Buffer | 'nothing' | undefined

beforeAll(async () => {
  database = startServer()
  between = createServer((near: Socket) => {
    const far = connect(join(database.folder, SOCKET))
    near.pipe(far)
    far.on('data', (answer: Buffer) => {
      if (instead === undefined || !answer.includes('find me')) return void near.write(answer)
      if (instead === 'nothing') near.end(answer.subarray(0, answer.byteLength - 20))
      else near.write(instead)
      instead = undefined
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => {
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => {
    between.listen(join(folder, SOCKET), resolve)
  })
  engine = openPostgres({ url: `postgres://postgres@/postgres?host=${encodeURIComponent(folder)}`, connections: 2 })
})
afterAll(async () => {
  await engine.close()
  between.close()
  database.remove()
  rmSync(folder, { recursive: true, force: true })
})

const ask = () => engine.query(`select 'find me' as said`)
const message = (letter: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.write(letter, 'latin1')
  head.writeInt32BE(body.byteLength + 4, 1)
  return Buffer.concat([head, body])
}

describe('an answer', () => {
  test.each([
    ['with fewer values than it says', message('D', Buffer.from([0x7f, 0xff]))],
    ['with a value that is longer than the answer', message('D', Buffer.from([0, 1, 0x7f, 0xff, 0xff, 0xff]))],
    ['of no kind', message('\u0001', Buffer.from('what'))],
    ['that answers nothing that was asked', message('T', Buffer.from([0xff, 0xff]))],
    ['that is none at all', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(20))],
  ])('%s fails its statement, and the next one is answered', async (_, bytes) => {
    instead = Buffer.concat([bytes, message('Z', Buffer.from('I'))])
    // Some of it can be read as the beginning of something, whose end never comes: nobody waits for it for ever.
    await expect(
      engine.transaction(({ query }) => query(`select 'find me' as said`), AbortSignal.timeout(500)),
    ).rejects.toThrow()
    expect(await engine.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  test('that ends in the middle fails only its own statement', async () => {
    instead = 'nothing'
    await expect(ask()).rejects.toMatchObject({ code: 'store-unavailable' })
    expect(await ask()).toEqual([{ said: 'find me' }])
  })

  test('beyond the size limit fails only its own statement, also in a transaction, and one that fits arrives', async () => {
    await expect(engine.query(`select repeat('x', 80000000) as said`)).rejects.toMatchObject({
      code: 'store-answer-too-large',
      fix: expect.stringContaining('most') as string,
    })
    await expect(
      engine.transaction(({ query }) => query(`select repeat('x', 600) as said from generate_series(1, 200000)`)),
    ).rejects.toMatchObject({ code: 'store-answer-too-large' })
    expect((await engine.query<{ said: string }>(`select repeat('x', 1000000) as said`))[0]?.said.length).toBe(
      1_000_000,
    )
  })

  test('with a value longer than a string can be is refused as too large, for every reader', () => {
    const stream = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => {
        done()
      },
    })
    const failed: unknown[] = []
    stream.on('error', (error) => failed.push(error))
    guardAnswers(stream, 1_000)
    // As V8 says it: there is not always memory to try it.
    stream.on('data', () => {
      throw Object.assign(new Error('Cannot create a string longer than 0x1fffffe8 characters'), {
        code: 'ERR_STRING_TOO_LONG',
      })
    })
    stream.push('x')
    return expect.poll(() => failed).toMatchObject([{ code: 'CORDON_ANSWER_TOO_LARGE' }])
  })
})
