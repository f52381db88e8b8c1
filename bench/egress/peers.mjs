// Other proxies that end TLS and put a header in: those that are here, each ready to be asked.
import { fork, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { findPackage, findProgram } from '../contestants/look-up.mjs'

/** @typedef {{ port: number, certificate: string }} Server */
/** @typedef {{ name: string, ready: Promise<import('./ways.mjs').Way>, kill: () => void }} Peer */

/**
 * @param {{ peers: string | undefined, scratch: string, server: Server }} where
 * @returns {{ found: Peer[], missing: string[] }}
 */
export const startPeers = ({ peers, scratch, server }) => {
  const runtime = findPackage('@anthropic-ai/sandbox-runtime', peers)
  const mitmdump = findProgram('mitmdump', peers)
  return {
    found: [
      ...(runtime === undefined ? [] : [startSandboxRuntime(runtime, server)]),
      ...(mitmdump === undefined ? [] : [startMitmproxy(mitmdump, scratch, server)]),
    ],
    missing: [...(runtime === undefined ? ['sandbox-runtime'] : []), ...(mitmdump === undefined ? ['mitmproxy'] : [])],
  }
}

/** @param {string} folder @param {Server} server @returns {Peer} */
const startSandboxRuntime = (folder, server) => {
  const child = fork(new URL('sandbox-runtime.mjs', import.meta.url), [folder])
  const host = `api.test:${server.port}`
  const ready = new Promise((resolve, reject) => {
    child.once('message', (answer) =>
      resolve({ name: 'sandbox-runtime', .../** @type {Server} */ (answer), host, target: host }),
    )
    child.once('exit', (code) => reject(new Error(`sandbox-runtime ended with ${code}`)))
    child.send({ certificate: server.certificate })
  })
  return { name: 'sandbox-runtime', ready, kill: () => child.kill() }
}

/** @param {string} program @param {string} scratch @param {Server} server @returns {Peer} */
const startMitmproxy = (program, scratch, server) => {
  const trusted = path.join(scratch, 'trusted.pem')
  writeFileSync(trusted, server.certificate)
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child
  const begin = async () => {
    const port = await freePort()
    child = spawn(
      program,
      [
        '-q',
        '--listen-host',
        '127.0.0.1',
        '--listen-port',
        String(port),
        ...[
          '--set',
          `confdir=${scratch}`,
          '--set',
          `ssl_verify_upstream_trusted_ca=${trusted}`,
          '--set',
          'stream_large_bodies=64k',
        ],
        ...['--modify-headers', '|~q|Authorization|Bearer value-of-the-token-of-the-bench'],
      ],
      { stdio: ['ignore', 'ignore', 'inherit'], detached: true },
    )
    const certificate = path.join(scratch, 'mitmproxy-ca-cert.pem')
    for (let tries = 0; tries < 600 && !(existsSync(certificate) && (await answers(port))); tries++) await sleep(50)
    // It looks names up by itself, so it is given the address; what it asks the server for is the name in TLS.
    return {
      name: 'mitmproxy',
      port,
      certificate: readFileSync(certificate, 'utf8'),
      host: `api.test:${server.port}`,
      target: `127.0.0.1:${server.port}`,
    }
  }
  return {
    name: 'mitmproxy',
    ready: begin(),
    kill: () => {
      if (child?.pid !== undefined) process.kill(-child.pid)
    },
  }
}

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })

/** @param {number} port @returns {Promise<boolean>} */
const answers = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
