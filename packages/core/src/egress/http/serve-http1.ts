import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

import { CordonError } from '../../errors/index.js'

import type { Body } from './body.js'
import { readBody, wholeBody } from './body.js'
import type { ByteReader } from './byte-reader.js'
import type { ExchangeRequest, Reply, Scheme } from './exchange.js'
import { endToEnd, forServer, membersOf, valueOf, valuesOf, withoutHeaders } from './header-list.js'
import { malformed, readRequestHead, requestFraming } from './message-head.js'
import type { RequestHead } from './message-head.js'
import { framingHeader, renderHeaders, writeBody, writeHead } from './write.js'

export interface Http1Settings {
  /** Of the connection. A request with another one is refused. */
  readonly scheme: Scheme
  readonly handle: (request: ExchangeRequest, reply: Reply, head: RequestHead) => Promise<void>
  readonly onMalformed: (problem: string) => void
  /** Takes a CONNECT request. Returns true if the connection is no longer ours. */
  readonly onConnect?: (head: RequestHead) => boolean
}

/** Serves the requests of one connection until either side ends it. */
export const serveHttp1 = async (stream: Duplex, reader: ByteReader, settings: Http1Settings): Promise<void> => {
  try {
    let next: Next = 'request'
    while (next === 'request') next = await serveOne(stream, reader, settings)
    if (next === 'end') await finish(stream, reader)
  } catch (error) {
    if (!(error instanceof CordonError) || error.code !== 'http-malformed') throw error
    settings.onMalformed(error.message)
    if (!stream.destroyed) stream.write(plainAnswer(400, error.message))
    await finish(stream, reader)
  }
}

const PATIENCE = 2_000
const MOST_DROPPED = 16 << 20

/**
 * Ends a connection so that the last bytes arrive. What the other side still sends is read and dropped for a while:
 * closing over unread bytes would discard what was just sent.
 */
const finish = async (stream: Duplex, reader: ByteReader): Promise<void> => {
  reader.release()
  if (stream.destroyed) return
  if (!stream.writableEnded) stream.end()
  await new Promise<void>((resolve) => {
    let dropped = 0
    const timer = setTimeout(resolve, PATIENCE)
    const settle = (): void => {
      if (!stream.writableFinished && !stream.destroyed) return
      if (!stream.readableEnded && !stream.destroyed) return
      clearTimeout(timer)
      resolve()
    }
    stream.on('data', (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped > MOST_DROPPED) stream.destroy()
    })
    stream.on('end', settle).on('finish', settle).on('close', settle)
    stream.resume()
    settle()
  })
  stream.destroy()
}

/** What follows on a connection. `other` is no longer ours. */
type Next = 'request' | 'other' | 'end'

export const plainAnswer = (status: number, message: string, headers: readonly string[] = []): string => {
  const text = `cordon: ${message}\n`
  const own = ['Content-Type: text/plain; charset=utf-8', `Content-Length: ${Buffer.byteLength(text)}`]
  return [statusLine(status), ...headers, ...own, 'Connection: close', '', text].join('\r\n')
}

const statusLine = (status: number): string => `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`

const serveOne = async (
  stream: Duplex,
  reader: ByteReader,
  { scheme, handle, onConnect }: Http1Settings,
): Promise<Next> => {
  const head = await readRequestHead(reader)
  if (head === undefined) return 'end'
  if (head.method === 'CONNECT') {
    if (onConnect === undefined) throw malformed('tool', 'CONNECT makes sense only to a proxy')
    return onConnect(head) ? 'other' : 'end'
  }
  const { named, path } = parseTarget(head, scheme)
  const hosts = valuesOf(head.headers, 'host')
  if (hosts.length > 1) throw malformed('tool', 'there is more than one Host')
  if (hosts.length === 0 && head.version === '1.1') throw malformed('tool', 'there is no Host')
  const body = readBody(reader, requestFraming(head), 'tool')
  const wantsContinue = valueOf(head.headers, 'expect')?.toLowerCase() === '100-continue'
  const tracked = body && track(body, () => wantsContinue && stream.write('HTTP/1.1 100 Continue\r\n\r\n'))
  const request: ExchangeRequest = {
    protocol: `http/${head.version}`,
    scheme,
    method: head.method,
    target: path,
    authorities: [...named, ...hosts],
    headers: forServer(head.headers),
    body: tracked?.body,
    wantsWebSocket: wantsWebSocket(head),
  }
  const wantsMore = head.version === '1.1' && !membersOf(head.headers, 'connection').includes('close')
  const { reply, next } = http1Reply(stream, head, reader, () => wantsMore && tracked?.isRead() !== false)
  await handle(request, reply, head)
  return next()
}

const ABSOLUTE = /^(?<scheme>[a-z]+):\/\/(?<authority>[^/?]*)(?<path>.*)$/i

/** The target of any request but CONNECT: the host, if it is a whole URL, and the path with its query, or `*`. */
const parseTarget = (
  { method, target }: RequestHead,
  schemeOfConnection: Scheme,
): { readonly named: readonly string[]; readonly path: string } => {
  if (target.startsWith('/') || (target === '*' && method === 'OPTIONS')) return { named: [], path: target }
  const { scheme, authority, path } = ABSOLUTE.exec(target)?.groups ?? {}
  const known = scheme?.toLowerCase()
  if (authority === undefined || path === undefined || (known !== 'http' && known !== 'https'))
    throw malformed('tool', 'the URL is neither a path nor one of http or https')
  if (authority.includes('@')) throw malformed('tool', 'the URL contains a user name')
  if (known !== schemeOfConnection)
    throw malformed('tool', `the URL is one of ${known}, and the connection one of ${schemeOfConnection}`)
  return { named: [authority], path: path.startsWith('/') ? path : `/${path}` }
}

const wantsWebSocket = ({ method, version, headers }: RequestHead): boolean =>
  method === 'GET' &&
  version === '1.1' &&
  membersOf(headers, 'connection').includes('upgrade') &&
  membersOf(headers, 'upgrade').join() === 'websocket'

const track = (body: Body, onStart: () => void): { readonly body: Body; readonly isRead: () => boolean } => {
  let isRead = body.length === 0
  async function* chunks(): AsyncGenerator<Buffer, undefined> {
    onStart()
    for await (const chunk of body.chunks) yield chunk
    isRead = true
  }
  return { body: { ...body, chunks: chunks() }, isRead: () => isRead }
}

const http1Reply = (
  stream: Duplex,
  { method, version }: RequestHead,
  reader: ByteReader,
  wantsMore: () => boolean,
): { readonly reply: Reply; readonly next: () => Next } => {
  let hasBegun = false
  let next: Next = 'end'
  const gone = new AbortController()
  const onClose = (): void => {
    gone.abort()
  }
  stream.once('close', onClose)
  const reply: Reply = {
    inform: (status, headers) => {
      // Dropped if the tool does not read: nothing waits for these.
      if (version === '1.1' && !hasBegun && !stream.writableNeedDrain)
        stream.write(`${statusLine(status)}\r\n${renderHeaders(endToEnd(headers), 'server')}\r\n`, 'latin1')
    },
    send: async ({ status, headers, body }) => {
      hasBegun = true
      const hasNone = method === 'HEAD' || status === 204 || status === 304
      // An answer without a body (HEAD, 304) states the length that the server gave.
      const length = hasNone ? valueOf(headers, 'content-length') : body === undefined ? 0 : body.length
      const framing = hasNone ? 'none' : length !== undefined ? 'length' : version === '1.1' ? 'chunked' : 'close'
      const stays = wantsMore() && framing !== 'close'
      const rest = withoutHeaders(endToEnd(headers), new Set(['content-length']))
      writeHead(
        stream,
        `${statusLine(status)}\r\n${renderHeaders(rest, 'server')}${framingHeader(framing, length)}` +
          `${stays ? '' : 'Connection: close\r\n'}\r\n`,
      )
      if (!hasNone) await writeBody(stream, body ?? wholeBody(Buffer.alloc(0)), framing, 'server')
      if (stays && wantsMore()) next = 'request'
      stream.off('close', onClose)
    },
    switchProtocols: (headers) => {
      hasBegun = true
      next = 'other'
      reader.release()
      stream.write(
        `${statusLine(101)}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `${renderHeaders(endToEnd(headers), 'server')}\r\n`,
        'latin1',
      )
      return stream
    },
    abort: () => {
      stream.destroy()
    },
    hasBegun: () => hasBegun,
    signal: gone.signal,
  }
  return { reply, next: () => next }
}
