import { constants, createServer } from 'node:http2'
import type { Http2Server, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'

import type { Body } from './body.js'
import type { ExchangeRequest, Handler, Reply, Scheme } from './exchange.js'
import type { Header, HeaderList } from './header-list.js'
import { endToEnd, forServer, hasDisguisedFraming, isHeader, valueOf, valuesOf, withoutHeaders } from './header-list.js'
import { MAX_HEAD_BYTES } from './message-head.js'
import { write } from './write.js'

// Windows stay at the 64 KB of RFC 9113: the tool is on this machine, and a window's bytes are held here.
const SETTINGS = { maxConcurrentStreams: 128, maxHeaderListSize: MAX_HEAD_BYTES, enableConnectProtocol: false }
const METHOD = /^[A-Z][A-Z-]{0,31}$/

export const serveHttp2 = (
  stream: Duplex,
  scheme: Scheme,
  handle: Handler,
  onMalformed: (problem: string) => void,
): Promise<void> =>
  new Promise((resolve) => {
    const server: Http2Server = createServer({
      settings: SETTINGS,
      maxHeaderListPairs: 256,
      maxSendHeaderBlockLength: 4 * MAX_HEAD_BYTES,
    })
    server.on('sessionError', () => stream.destroy())
    server.on('session', (session) => {
      session.on('error', () => stream.destroy())
    })
    server.on(
      'stream',
      (exchange: ServerHttp2Stream, _headers: IncomingHttpHeaders, _flags: number, rawHeaders: readonly string[]) => {
        exchange.on('error', () => undefined)
        const request = requestOf(exchange, scheme, pairs(rawHeaders))
        if (request === undefined) {
          onMalformed('a request of HTTP/2 has no method, path, host and length that can be read in exactly one way')
          exchange.respond({ ':status': 400 }, { endStream: true })
          return
        }
        handle(request, http2Reply(exchange)).catch(() => {
          exchange.close(constants.NGHTTP2_INTERNAL_ERROR)
        })
      },
    )
    stream.once('close', resolve)
    server.emit('connection', stream)
  })

export const pairs = (raw: readonly string[]): HeaderList =>
  raw.flatMap((name, at): Header[] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))

const requestOf = (stream: ServerHttp2Stream, scheme: Scheme, all: HeaderList): ExchangeRequest | undefined => {
  const pseudo = new Map(all.filter(([name]) => name.startsWith(':')))
  const headers = all.filter(([name]) => !name.startsWith(':'))
  const [method, target, authority] = [pseudo.get(':method'), pseudo.get(':path'), pseudo.get(':authority')]
  if (method === undefined || !METHOD.test(method) || method === 'CONNECT' || target === undefined) return undefined
  // The same checks as for HTTP/1.
  if (!/^(?:\/[\x21\x22\x24-\x7e]*|\*)$/.test(target) || pseudo.get(':scheme') !== scheme) return undefined
  const hosts = valuesOf(headers, 'host')
  if (!headers.every(isHeader) || hasDisguisedFraming(headers) || hosts.length > 1) return undefined
  return {
    protocol: 'h2',
    scheme,
    method,
    target,
    authorities: [...(authority === undefined ? [] : [authority]), ...hosts],
    headers: joinCookies(forServer(headers)),
    body: stream.endAfterHeaders ? undefined : bodyOf(stream, valueOf(headers, 'content-length')),
    wantsWebSocket: false,
  }
}

/** HTTP/2 may send one cookie per header; HTTP/1.1 must not. */
const joinCookies = (headers: HeaderList): HeaderList => {
  const cookies = valuesOf(headers, 'cookie')
  return cookies.length < 2
    ? headers
    : [...withoutHeaders(headers, new Set(['cookie'])), ['cookie', cookies.join('; ')]]
}

/** The body of a request or response. Its trailers are kept as they arrive. */
export const bodyOf = (stream: Duplex, contentLength: string | undefined): Body => {
  let trailers: HeaderList = []
  stream.on('trailers', (_headers: IncomingHttpHeaders, _flags: number, raw: readonly string[]) => {
    trailers = pairs(raw)
  })
  return {
    length: contentLength !== undefined && /^\d{1,15}$/.test(contentLength) ? Number(contentLength) : undefined,
    chunks: stream,
    trailers: () => trailers,
  }
}

/** As Node wants them: one entry per name. */
export const headersByName = (headers: HeaderList): OutgoingHttpHeaders => {
  // Without a prototype: a header may be named `constructor` or `__proto__`.
  const groups = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    const before = groups[key]
    groups[key] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return groups
}

const http2Reply = (stream: ServerHttp2Stream): Reply => {
  const gone = new AbortController()
  stream.once('close', () => {
    gone.abort()
  })
  return {
    inform: (status, headers) => {
      if (!stream.headersSent && !stream.destroyed && status !== 101)
        orReset(stream, () => {
          stream.additionalHeaders({ ':status': status, ...headersByName(endToEnd(headers)) })
        })
    },
    send: async ({ status, headers, body }) => {
      if (stream.destroyed) return
      // RFC 9113: the stream ends the body, and a stated length must be true.
      const kept =
        body !== undefined && body.length === undefined ? withoutHeaders(headers, new Set(['content-length'])) : headers
      stream.respond(
        { ':status': status, ...headersByName(endToEnd(kept)) },
        { endStream: body === undefined, waitForTrailers: body !== undefined },
      )
      if (body === undefined) return
      stream.once('wantTrailers', () => {
        orReset(stream, () => {
          stream.sendTrailers(headersByName(endToEnd(body.trailers())))
        })
      })
      for await (const chunk of body.chunks) await write(stream, chunk)
      await new Promise<void>((resolve) => {
        stream.once('close', resolve)
        stream.end(resolve)
      })
    },
    switchProtocols: () => {
      throw new TypeError('HTTP/2 does not switch protocols')
    },
    abort: () => {
      stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    },
    hasBegun: () => stream.headersSent,
    signal: gone.signal,
  }
}

/** The server may have sent what HTTP/2 cannot express. Node throws then, here out of an event. */
const orReset = (stream: ServerHttp2Stream, say: () => void): void => {
  try {
    say()
  } catch {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
}
