// For programs that use a proxy: CONNECT for everything, and plain HTTP with full URLs.
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'

import { renderEndpoint, parseEndpoint } from '../endpoint.js'
import type { Endpoint } from '../endpoint.js'
import { readBytes } from '../http/byte-reader.js'
import type { Handler } from '../http/exchange.js'
import type { HeaderList } from '../http/header-list.js'
import { valuesOf } from '../http/header-list.js'
import type { RequestHead } from '../http/message-head.js'
import type { Http1Settings } from '../http/serve-http1.js'
import { serveHttp1 } from '../http/serve-http1.js'
import type { Denial } from '../rules/denial.js'

import { refusal } from './forward.js'

/** A call, as the proxy for programs sees it. */
export interface ProxyUser {
  readonly mayConnect: (endpoint: Endpoint) => Denial | undefined
  readonly accept: (stream: Duplex, endpoint: Endpoint) => void
  /** For requests with whole URLs; nothing where the endpoint is denied. */
  readonly handlerFor: (endpoint: Endpoint) => Handler | Denial
  readonly onMalformed: (problem: string) => void
  /** Breaks this connection when the call ends. */
  readonly hold: (stream: Duplex) => void
}

const UNKNOWN_FOR = 30_000

/** Calls by the hash of their secret, so that looking one up tells nothing about it by its time. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex')

export const serveProxyClient = async (
  stream: Duplex,
  userOf: (hash: string) => ProxyUser | undefined,
): Promise<void> => {
  stream.on('error', () => undefined)
  const reader = readBytes(stream)
  let user: ProxyUser | undefined
  // Whoever does not say which call it belongs to gets no place to wait.
  const timer = setTimeout(() => {
    if (user === undefined) stream.destroy()
  }, UNKNOWN_FOR)
  const onConnect = async (head: RequestHead): Promise<boolean> => {
    user = authorized(proxyCredentials(head.headers), userOf)
    if (user === undefined)
      return answer(stream, 407, 'this proxy is for calls of Cordon, by their own secret', [
        'Proxy-Authenticate: Basic realm="cordon"',
      ])
    const endpoint = parseEndpoint(head.target, undefined)
    const hosts = valuesOf(head.headers, 'host')
    const isOne = endpoint !== undefined && hosts.length <= 1 && hosts.every((host) => isSame(host, endpoint))
    if (!isOne) {
      user.onMalformed('CONNECT does not name one host and port')
      return answer(stream, 400, 'CONNECT does not name one host and port')
    }
    const denied = user.mayConnect(endpoint)
    if (denied !== undefined)
      return answer(stream, 403, `${renderEndpoint(endpoint)} was refused: ${denied.because}`, [
        `X-Cordon-Refused: ${denied.reason}`,
      ])
    stream.write('HTTP/1.1 200 Connection established\r\n\r\n')
    reader.release()
    user.accept(stream, endpoint)
    return Promise.resolve(true)
  }
  const handle: Http1Settings['handle'] = async (request, reply, head) => {
    const caller = authorized(proxyCredentials(head.headers), userOf)
    if (caller !== user) caller?.hold(stream)
    user = caller
    if (caller === undefined) {
      const refused = refusal(407, 'this proxy is for calls of Cordon, by their own secret', 'proxy-authorization')
      return reply.send({ ...refused, headers: [...refused.headers, ['Proxy-Authenticate', 'Basic realm="cordon"']] })
    }
    const [authority = ''] = request.authorities
    const endpoint = parseEndpoint(authority, 80)
    if (endpoint === undefined || request.scheme !== 'http' || !head.target.includes('://')) {
      caller.onMalformed('a request to the proxy does not name one URL of http')
      return reply.send(refusal(400, 'a request to this proxy names a whole URL of http, or is CONNECT', 'malformed'))
    }
    const handler = caller.handlerFor(endpoint)
    if (typeof handler === 'function') return handler(request, reply)
    return reply.send(refusal(403, `${renderEndpoint(endpoint)} was refused: ${handler.because}`, handler.reason))
  }
  try {
    await serveHttp1(stream, reader, {
      scheme: 'http',
      handle,
      onConnect,
      onMalformed: (problem) => {
        user?.onMalformed(problem)
      },
    })
  } catch {
    stream.destroy()
  } finally {
    clearTimeout(timer)
  }
}

const isSame = (host: string, endpoint: Endpoint): boolean => {
  const named = parseEndpoint(host, endpoint.port)
  return named !== undefined && renderEndpoint(named) === renderEndpoint(endpoint)
}

const answer = (stream: Duplex, status: 400 | 403 | 407, text: string, headers: readonly string[] = []): boolean => {
  const reasons = { 400: 'Bad Request', 403: 'Forbidden', 407: 'Proxy Authentication Required' }
  const body = `cordon: ${text}\n`
  stream.write(
    `HTTP/1.1 ${status} ${reasons[status]}\r\n${headers.map((header) => `${header}\r\n`).join('')}Content-Type: ` +
      `text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: ` +
      `close\r\n\r\n${body}`,
  )
  return false
}

export const proxyCredentials = (headers: HeaderList): string | undefined => {
  const values = valuesOf(headers, 'proxy-authorization')
  return values.length === 1 ? values[0] : undefined
}

/** `Basic` with any user name, whose password is the secret; or `Bearer`. */
const authorized = (
  value: string | undefined,
  userOf: (hash: string) => ProxyUser | undefined,
): ProxyUser | undefined => {
  const [scheme = '', text = ''] = (value ?? '').split(' ')
  if (scheme.toLowerCase() === 'bearer') return userOf(tokenHash(text))
  if (scheme.toLowerCase() !== 'basic') return undefined
  const decoded = Buffer.from(text, 'base64').toString('utf8')
  return userOf(tokenHash(decoded.slice(decoded.indexOf(':') + 1)))
}
