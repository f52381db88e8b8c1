// npm run bench -- --egress: a request on a new connection, a long download and many connections,
// straight to a server with TLS and through the terminating proxy with a credential, in turns.
import { fork } from 'node:child_process'
import { get } from 'node:https'
import { connect } from 'node:tls'
import { performance } from 'node:perf_hooks'

const GIGABYTE = 1 << 30

/** @param {string} name */
const start = (name) => fork(new URL(`egress/${name}.mjs`, import.meta.url))

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {unknown} [message]
 * @returns {Promise<any>}
 */
const ask = (child, message) =>
  new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`a process of the bench ended with ${code}`)))
    if (message !== undefined) child.send(/** @type {object} */ (message))
  })

/** @typedef {{ port: number, certificate: string, host: string }} Way */

/**
 * @param {Way} way
 * @param {string} path
 * @param {(chunk: Buffer) => void} onData
 * @returns {Promise<void>}
 */
const fetchOnce = ({ port, certificate, host }, path, onData) =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, servername: 'api.test', ca: certificate, agent: false, headers: { host } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the answer was ${response.statusCode}`))
      response.on('data', onData)
      response.on('end', resolve)
      response.on('error', reject)
    }).on('error', reject)
  })

const quantile = (/** @type {number[]} */ values, /** @type {number} */ part) => [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? NaN

/** @param {{ quick: boolean, check: boolean }} options */
export const benchEgress = async ({ quick, check }) => {
  const [n, size, connections] = quick ? [50, GIGABYTE / 8, 1000] : [300, GIGABYTE, 1000]
  const server = start('server')
  const proxy = start('proxy')
  try {
    const direct = await ask(server)
    const host = `api.test:${direct.port}`
    const through = await ask(proxy, { ...direct, withCredential: true })
    const ways = [{ name: 'direct', way: { ...direct, host } }, { name: 'proxy', way: { ...through, host } }]
    for (const { way } of ways) for (let count = 0; count < 20; count++) await fetchOnce(way, '/', () => undefined)

    const times = ways.map(() => /** @type {number[]} */ ([]))
    for (let count = 0; count < n; count++) {
      for (const [at, { way }] of ways.entries()) {
        const began = performance.now()
        await fetchOnce(way, '/', () => undefined)
        times[at]?.push(performance.now() - began)
      }
    }
    const p50 = times.map((values) => quantile(values, 0.5))
    const line = (/** @type {string} */ text) => process.stdout.write(`${text}\n`)
    line(`one GET on a new connection, p50: direct ${p50[0]?.toFixed(2)} ms, proxy ${p50[1]?.toFixed(2)} ms, ratio ${((p50[1] ?? NaN) / (p50[0] ?? NaN)).toFixed(2)} (at most 2.5)`)

    const rates = []
    for (const { way } of ways) {
      const before = await ask(proxy, 'memory')
      let bytes = 0
      const began = performance.now()
      await fetchOnce(way, `/${size}`, (chunk) => {
        bytes += chunk.length
      })
      if (bytes !== size) throw new Error(`${bytes} bytes came of ${size}`)
      rates.push({ rate: size / 1e6 / ((performance.now() - began) / 1000), growth: (await ask(proxy, 'memory')).peak - before.rss })
    }
    const [straight, passed] = rates
    line(`${size / 1e6} MB: direct ${straight?.rate.toFixed(0)} MB/s, proxy ${passed?.rate.toFixed(0)} MB/s, ratio ${((passed?.rate ?? NaN) / (straight?.rate ?? NaN)).toFixed(2)} (at least 0.5); memory of the proxy grew by ${((passed?.growth ?? NaN) / 1e6).toFixed(0)} MB`)

    const held = await holdMany(ways[1]?.way, host, connections)
    line(`${connections} connections at once: ${held} answered`)
    const isMet = (p50[1] ?? NaN) <= 2.5 * (p50[0] ?? NaN) && (passed?.rate ?? NaN) >= (straight?.rate ?? NaN) / 2 && (passed?.growth ?? NaN) < 100e6 && held === connections
    if (check && !isMet) process.exitCode = 1
  } finally {
    server.kill()
    proxy.kill()
  }
}

/**
 * @param {Way | undefined} way
 * @param {string} host
 * @param {number} count
 * @returns {Promise<number>}
 */
const holdMany = async (way, host, count) => {
  if (way === undefined) return 0
  const sockets = await Promise.all(Array.from({ length: count }, () => new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: way.port, servername: 'api.test', ca: way.certificate }, () => resolve(socket))
    socket.on('error', reject)
  })))
  const answers = await Promise.all(sockets.map((socket) => new Promise((resolve) => {
    socket.once('data', (/** @type {Buffer} */ chunk) => resolve(chunk.toString().startsWith('HTTP/1.1 200')))
    socket.once('close', () => resolve(false))
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  })))
  for (const socket of sockets) socket.destroy()
  return answers.filter(Boolean).length
}
