// Where an answer is cut, and when its parts arrive, says nothing about a secret.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

import { afterEach, expect, test } from 'vitest'

import { ALPHABET, chunkLengths, guess } from './prefix-oracle.js'
import { openTls } from './raw.js'
import { startHttps } from './servers.js'
import type { TestServer } from './servers.js'
import { bearer, openStage } from './stage.js'
import type { Stage } from './stage.js'

const TOKEN = 'tok_q7x2k9'
const KNOWN = 'tok_'
/** The long form: CORDON_ORACLE_REQUESTS=20000 */
const REQUESTS = Number(process.env['CORDON_ORACLE_REQUESTS'] ?? 360)

let stage: Stage
let server: TestServer
afterEach(async () => {
  await stage.close()
  await server.close()
})

const repeatQuery = (request: IncomingMessage, response: ServerResponse): void => {
  const guessed = new URL(request.url ?? '', 'https://x').searchParams.get('q') ?? ''
  response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
  response.end(gzipSync(`you asked for ${guessed}`))
}

/** Tells by its own cuts, so that the attack is known to work. */
const tellByCuts = (request: IncomingMessage, response: ServerResponse): void => {
  const guessed = new URL(request.url ?? '', 'https://x').searchParams.get('q') ?? ''
  response.writeHead(200, { 'content-type': 'text/plain' })
  response.write('you asked:\n\n')
  if (!TOKEN.startsWith(guessed)) response.write('for this:\n\n')
  else response.write('for that long text:\n\n')
  response.end(guessed)
}

const attack = async (answer: typeof repeatQuery, requests: number): Promise<string> => {
  server = await startHttps(answer)
  stage = await openStage({
    network: [`api.test:${server.port}`],
    here: ['api.test'],
    credentials: [bearer('token', `api.test:${server.port}`)],
    secrets: { token: TOKEN },
  })
  const socket = await openTls(stage, { host: 'api.test', port: server.port })
  const next = chunkLengths(socket)
  const ask = (text: string): Promise<string> => {
    socket.write(`GET /?q=${text} HTTP/1.1\r\nHost: api.test:${server.port}\r\nAccept-Encoding: gzip\r\n\r\n`)
    return next()
  }
  const { found, requests: asked } = await guess(KNOWN, ask, requests)
  expect(asked).toBeGreaterThan(requests - ALPHABET.length)
  socket.destroy()
  return found
}

test('a tool that guesses a credential by the cuts of compressed answers finds nothing', async () => {
  expect(await attack(repeatQuery, REQUESTS)).toBe('')
}, 600_000)

test('the same tool finds it at a host that cuts its answers by it', async () => {
  expect(await attack(tellByCuts, 6 * ALPHABET.length)).toBe(TOKEN.slice(KNOWN.length))
})
