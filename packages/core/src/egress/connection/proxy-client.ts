// Serves programs that use a proxy: CONNECT for any host, and plain HTTP with whole URLs.
import type { Duplex } from 'node:stream'

import { isSameEndpoint, parseEndpoint, renderEndpoint } from '../endpoint.js'
import type { Endpoint } from '../endpoint.js'
import { readBytes } from '../http/byte-reader.js'
import type { Handler } from '../http/exchange.js'
import type { HeaderList } from '../http/header-list.js'
import { valuesOf } from '../http/header-list.js'
import type { RequestHead } from '../http/message-head.js'
import type { Http1Settings } from '../http/serve-http1.js'
import { plainAnswer, serveHttp1 } from '../http/serve-http1.js'
import type { Denial } from '../rules/denial.js'

import { refusal } from './forward.js'

/** The call whose programs use the proxy. */
export interface ProxyUser {
  readonly isKnownBy: (secret: string) => boolean
  readonly mayConnect: (endpoint: Endpoint) => Denial | undefined
  readonly accept: (stream: Duplex, endpoint: Endpoint) => void
  /** For requests with whole URLs. */
  readonly handlerFor: (endpoint: Endpoint) => Handler | Denial
  readonly onMalformed: (problem: string) => void
}

const UNKNOWN_FOR = 30_000

const NO_SECRET = 'this proxy is for calls of Cordon, by their own secret'

export const serveProxyClient = async (stream: Duplex, user: ProxyUser): Promise<void> => {
  stream.on('error', () => undefined)
  const reader = readBytes(stream)
  let isKnown = false
  // A client that does not send the secret may not wait here.
  const timer = setTimeout(() => {
    if (!isKnown) stream.destroy()
  }, UNKNOWN_FOR)
  const answer = (status: number, text: string, headers: readonly string[] = []): false => {
    stream.write(plainAnswer(status, text, headers))
    return false
  }
  const onConnect = (head: RequestHead): boolean => {
    isKnown = isAuthorized(head.headers, user)
    if (!isKnown) return answer(407, NO_SECRET, ['Proxy-Authenticate: Basic realm="cordon"'])
    const endpoint = parseEndpoint(head.target, undefined)
    const hosts = valuesOf(head.headers, 'host')
    if (endpoint === undefined || hosts.length > 1 || !hosts.every((host) => isSame(host, endpoint))) {
      user.onMalformed('CONNECT does not name one host and port')
      return answer(400, 'CONNECT does not name one host and port')
    }
    const denied = user.mayConnect(endpoint)
    if (denied !== undefined)
      return answer(403, `${renderEndpoint(endpoint)} was refused: ${denied.because}`, [
        `X-Cordon-Refused: ${denied.reason}`,
      ])
    stream.write('HTTP/1.1 200 Connection established\r\n\r\n')
    reader.release()
    user.accept(stream, endpoint)
    return true
  }
  const handle: Http1Settings['handle'] = async (request, reply, head) => {
    isKnown = isAuthorized(head.headers, user)
    if (!isKnown) {
      const refused = refusal(407, NO_SECRET, 'proxy-authorization')
      return reply.send({ ...refused, headers: [...refused.headers, ['Proxy-Authenticate', 'Basic realm="cordon"']] })
    }
    const [authority = ''] = request.authorities
    const endpoint = parseEndpoint(authority, 80)
    if (endpoint === undefined || request.scheme !== 'http' || !head.target.includes('://')) {
      user.onMalformed('a request to the proxy does not name one URL of http')
      return reply.send(refusal(400, 'a request to this proxy names a whole URL of http, or is CONNECT', 'malformed'))
    }
    const handler = user.handlerFor(endpoint)
    if (typeof handler === 'function') return handler(request, reply)
    return reply.send(refusal(403, `${renderEndpoint(endpoint)} was refused: ${handler.because}`, handler.reason))
  }
  try {
    await serveHttp1(stream, reader, {
      scheme: 'http',
      handle,
      onConnect,
      onMalformed: (problem) => {
        if (isKnown) user.onMalformed(problem)
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
  return named !== undefined && isSameEndpoint(named, endpoint)
}

/** `Basic` with any user name and the secret as its password, or `Bearer`. */
const isAuthorized = (headers: HeaderList, user: ProxyUser): boolean => {
  const values = valuesOf(headers, 'proxy-authorization')
  const [scheme = '', text = ''] = values.length === 1 ? (values[0] ?? '').split(' ') : []
  if (scheme.toLowerCase() === 'bearer') return user.isKnownBy(text)
  if (scheme.toLowerCase() !== 'basic') return false
  const decoded = Buffer.from(text, 'base64').toString('utf8')
  return user.isKnownBy(decoded.slice(decoded.indexOf(':') + 1))
}
