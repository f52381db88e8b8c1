// Test servers on this machine, with a certificate authority that only the tests trust.
import { createServer as createPlainServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

import { createTlsAuthority } from '../../src/egress/index.js'
import { parseRequestHost } from '../../src/policy/index.js'

export const serverAuthority = createTlsAuthority()

/** Of HTTP/2, too: Node gives its requests the same shape. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void

export interface TestServer {
  readonly port: number
  /** How often somebody connected. */
  readonly connections: () => number
  /** How many of them are still there. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

const listen = async (server: Server): Promise<TestServer> => {
  const sockets = new Set<Socket>()
  let count = 0
  server.on('connection', (socket: Socket) => {
    count++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    open: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        for (const socket of sockets) socket.destroy()
      }),
  }
}

export const contextOf = (name: string): ReturnType<typeof serverAuthority.contextFor> => {
  const host = parseRequestHost(name)
  if (host === undefined) throw new Error(`no host: ${name}`)
  return serverAuthority.contextFor(host)
}

export interface HttpsOptions {
  readonly host?: string
  /** Asks clients for a certificate, which the handler judges. */
  readonly asksClients?: boolean
  readonly onUpgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void
}

/** HTTP/1.1 and HTTP/2 with a certificate for one host. */
export const startHttps = async (
  handle: Handle,
  { host = 'api.test', asksClients = false, onUpgrade }: HttpsOptions = {},
): Promise<TestServer> => {
  const server = createSecureServer(
    {
      allowHTTP1: true,
      SNICallback: (_name, answer) => {
        answer(null, contextOf(host))
      },
      requestCert: asksClients,
      rejectUnauthorized: false,
    },
    handle as never,
  )
  server.on('sessionError', () => undefined)
  if (onUpgrade !== undefined) server.on('upgrade', onUpgrade)
  return listen(server)
}

export const startHttp = (handle: Handle): Promise<TestServer> => listen(createPlainServer(handle))

export const startTcp = (serve: (socket: Socket) => void): Promise<TestServer> =>
  listen(createTcpServer({ allowHalfOpen: true }, serve))

/** Answers with what it was asked. */
export const echo: Handle = (request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (chunk: Buffer) => pieces.push(chunk))
  request.on('end', () => {
    const { method, url, headers, httpVersion } = request
    const said = JSON.stringify({ method, url, headers, httpVersion, body: Buffer.concat(pieces).toString() })
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(said)
  })
}
