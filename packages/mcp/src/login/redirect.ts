// The loopback address to which the browser returns after a login (RFC 8252): one path, one use.
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { codeOf } from 'cordon/errors'

export interface Redirect {
  readonly uri: string
  /** The first address with the right state. Others are answered 400, and do not count. */
  readonly arrived: (state: string) => Promise<URL>
  readonly close: () => void
}

const HOST = '127.0.0.1'

/** Undefined if the port is taken. */
export const openRedirect = async (port: number, path: string): Promise<Redirect | undefined> => {
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 16_384 })
  if (!(await listens(server, port))) return undefined
  const uri = `http://${HOST}:${(server.address() as AddressInfo).port}${path}`
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return {
    uri,
    arrived: (state) =>
      new Promise((resolve) => {
        server.on('request', ({ method, url = '', headers }, response) => {
          const found = redirectedTo(`http://${headers.host ?? ''}${url}`, uri, state)
          const isRight = method === 'GET' && found !== undefined
          response.writeHead(isRight ? 200 : 400, { ...SAFE, connection: 'close' })
          response.end(isRight ? 'Cordon has the answer. You can close this window.\n' : 'Not found.\n', () => {
            if (found === undefined || !isRight) return
            close()
            resolve(found)
          })
        })
      }),
    close,
  }
}

const SAFE = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'",
}

/** The address, if it is the redirect of this login. */
export const redirectedTo = (text: string, uri: string, state: string): URL | undefined => {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return `${url.origin}${url.pathname}` === uri && url.searchParams.get('state') === state ? url : undefined
}

const listens = (server: Server, port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (codeOf(error) === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    server.listen(port, HOST, () => {
      resolve(true)
    })
  })
