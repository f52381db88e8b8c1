// npm run bench -- --egress: a request on a new connection, a long download and many connections,
// straight to a server with TLS, through the terminating proxy with a credential, and through other
// proxies that are found here, in turns.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'

import { startPeers } from './egress/peers.mjs'
import { fetchOnce, holdMany } from './egress/ways.mjs'

/** @typedef {import('./egress/ways.mjs').Way} Way */

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
    const onExit = (/** @type {number | null} */ code) => reject(new Error(`a process of the bench ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (answer) => {
      child.off('exit', onExit)
      resolve(answer)
    })
    if (message !== undefined) child.send(/** @type {object} */ (message))
  })

const quantile = (/** @type {number[]} */ values, /** @type {number} */ part) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? NaN
const line = (/** @type {string} */ text) => process.stdout.write(`${text}\n`)

/** @param {{ quick: boolean, check: boolean, peers: string | undefined }} options */
export const benchEgress = async ({ quick, check, peers }) => {
  const [n, size, rounds, connections] = quick ? [50, GIGABYTE / 8, 1, 1000] : [300, GIGABYTE, 3, 1000]
  const scratch = mkdtempSync(path.join(tmpdir(), 'cordon-bench-egress-'))
  const children = [start('server'), start('proxy'), start('proxy')]
  const [server, proxy, without] = /** @type {[typeof children[0], typeof children[0], typeof children[0]]} */ (
    children
  )
  /** @type {import('./egress/peers.mjs').Peer[]} */
  let others = []
  try {
    const origin = await ask(server)
    const host = `api.test:${origin.port}`
    const { found, missing } = startPeers({ peers, scratch, server: origin })
    others = found
    const direct = { name: 'direct', host, ...origin }
    const withCredential = await ask(proxy, { ...origin, withCredential: true })
    const brought = { ...withCredential, name: 'Cordon, by connect()', host, authorization: undefined }
    const asked = { ...withCredential, name: 'Cordon, by CONNECT', host, port: withCredential.proxyPort, target: host }
    const plain = {
      ...(await ask(without, { ...origin, withCredential: false })),
      name: 'Cordon, without a credential',
      host,
      authorization: undefined,
    }

    const ways = [direct, brought, asked, ...(await Promise.all(found.map(({ ready }) => ready)))]
    line(
      'one GET on a new connection, p50 of ' +
        `${n}${missing.length === 0 ? '' : ` (not found here: ${missing.join(', ')})`}`,
    )
    const p50 = await measureGets(ways, n)
    for (const [at, { name }] of ways.entries())
      line(
        `  ${name.padEnd(28)} ${p50[at]?.toFixed(2).padStart(7)} ms  ` +
          `${((p50[at] ?? NaN) / (p50[0] ?? NaN)).toFixed(2)} × direct`,
      )

    line(`${(size / 1e6).toFixed(0)} MB streamed${rounds === 1 ? '' : `, median of ${rounds} rounds`}`)
    const streams = await measureStreams(
      [
        [direct, proxy],
        [brought, proxy],
        [plain, without],
      ],
      size,
      rounds,
    )
    for (const { name, rate, part, growth } of streams)
      line(
        `  ${name.padEnd(28)} ${rate.toFixed(0).padStart(7)} MB/s  ${part.toFixed(2)} × ` +
          `direct${name === 'direct' ? '' : `, its memory grew by ${(growth / 1e6).toFixed(0)} MB`}`,
      )
    const held = await holdMany(brought, connections)
    line(`${connections} connections at once: ${held} answered`)

    const isAhead = p50.slice(3).every((time) => (p50[1] ?? NaN) < time && (p50[2] ?? NaN) < time)
    const isMet =
      (p50[1] ?? NaN) <= 2.5 * (p50[0] ?? NaN) &&
      isAhead &&
      (streams[1]?.part ?? NaN) >= 0.5 &&
      (streams[1]?.growth ?? NaN) < 100e6 &&
      held === connections
    line(
      'targets (a GET at most 2.5 × direct and ahead of every other proxy, at least half the direct rate, ' +
        `memory that stays, all answered): ${isMet ? 'met' : 'not met'}`,
    )
    if (check && !isMet) process.exitCode = 1
  } finally {
    for (const child of children) child.kill()
    for (const { kill } of others) kill()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** @param {Way[]} ways @param {number} n @returns {Promise<number[]>} */
const measureGets = async (ways, n) => {
  for (const way of ways) for (let count = 0; count < 20; count++) await fetchOnce(way, '/', () => undefined)
  const times = ways.map(() => /** @type {number[]} */ ([]))
  for (let count = 0; count < n; count++) {
    for (const [at, way] of ways.entries()) {
      const began = performance.now()
      await fetchOnce(way, '/', () => undefined)
      times[at]?.push(performance.now() - began)
    }
  }
  return times.map((values) => quantile(values, 0.5))
}

/**
 * In turns, each compared with the direct one of its own round.
 * @param {[Way, import('node:child_process').ChildProcess][]} ways each with the process whose memory is watched
 * @param {number} size
 * @param {number} rounds
 */
const measureStreams = async (ways, size, rounds) => {
  const all = ways.map(() => ({ rates: /** @type {number[]} */ ([]), parts: /** @type {number[]} */ ([]), growth: 0 }))
  for (let round = 0; round < rounds; round++) {
    for (const [at, [way, watched]] of ways.entries()) {
      const of = all[at]
      if (of === undefined) continue
      const { rate, growth } = await stream(way, size, watched)
      of.rates.push(rate)
      of.parts.push(rate / (all[0]?.rates[round] ?? NaN))
      of.growth = Math.max(of.growth, growth)
    }
  }
  return all.map(({ rates, parts, growth }, at) => ({
    name: ways[at]?.[0].name ?? '',
    rate: quantile(rates, 0.5),
    part: quantile(parts, 0.5),
    growth,
  }))
}

/**
 * @param {Way} way
 * @param {number} size
 * @param {import('node:child_process').ChildProcess} proxy whose memory is watched
 */
const stream = async (way, size, proxy) => {
  const before = await ask(proxy, 'memory')
  let bytes = 0
  const began = performance.now()
  await fetchOnce(way, `/${size}`, (chunk) => {
    bytes += chunk.length
  })
  if (bytes !== size) throw new Error(`${bytes} bytes came of ${size}`)
  return {
    rate: size / 1e6 / ((performance.now() - began) / 1000),
    growth: (await ask(proxy, 'memory')).peak - before.rss,
  }
}
