import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

import { CordonError } from '../../errors/index.js'

import type { Body } from './body.js'
import { readBody, wholeBody } from './body.js'
import type { ByteReader } from './byte-reader.js'
import { closeGently } from './close-gently.js'
import type { ExchangeRequest, ExchangeResponse, Reply, Scheme } from './exchange.js'
import { endToEnd, forServer, membersOf, valueOf, valuesOf, withoutHeaders } from './header-list.js'
import { malformed, readRequestHead, requestFraming } from './message-head.js'
import type { RequestHead } from './message-head.js'
import { parseTarget } from './request-target.js'
import type { OutgoingFraming } from './write.js'
import { renderHeaders, writeBody, writeHead } from './write.js'

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

const finish = async (stream: Duplex, reader: ByteReader): Promise<void> => {
  reader.release()
  await closeGently(stream)
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
  const { url, path } = parseTarget(head)
  if (url !== undefined && url.scheme !== scheme)
    throw malformed('tool', `the URL is one of ${url.scheme}, and the connection one of ${scheme}`)
  const hosts = valuesOf(head.headers, 'host')
  if (hosts.length > 1) throw malformed('tool', 'there is more than one Host')
  if (hosts.length === 0 && head.version === '1.1') throw malformed('tool', 'there is no Host')
  const body = readBody(reader, requestFraming(head), 'tool')
  const tracked = body === undefined ? undefined : track(body)
  const request: ExchangeRequest = {
    protocol: `http/${head.version}`,
    scheme,
    method: head.method,
    target: path,
    authorities: [...(url === undefined ? [] : [url.authority]), ...hosts],
    headers: forServer(head.headers),
    body: tracked?.body,
    wantsWebSocket: wantsWebSocket(head),
  }
  if (valueOf(head.headers, 'expect')?.toLowerCase() === '100-continue')
    tracked?.beforeFirst(() => stream.write('HTTP/1.1 100 Continue\r\n\r\n'))
  const wantsMore = head.version === '1.1' && !membersOf(head.headers, 'connection').includes('close')
  const { reply, next } = http1Reply(
    stream,
    head,
    reader,
    () => wantsMore && (tracked === undefined || tracked.isRead()),
  )
  await handle(request, reply, head)
  return next()
}

const wantsWebSocket = ({ method, version, headers }: RequestHead): boolean =>
  method === 'GET' &&
  version === '1.1' &&
  membersOf(headers, 'connection').includes('upgrade') &&
  membersOf(headers, 'upgrade').join() === 'websocket'

const track = (
  body: Body,
): { readonly body: Body; readonly isRead: () => boolean; readonly beforeFirst: (act: () => void) => void } => {
  let isRead = body.length === 0
  let before: (() => void) | undefined
  async function* chunks(): AsyncGenerator<Buffer, undefined> {
    before?.()
    for await (const chunk of body.chunks) yield chunk
    isRead = true
  }
  return {
    body: { ...body, chunks: chunks() },
    isRead: () => isRead,
    beforeFirst: (act) => {
      before = act
    },
  }
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
  const send = async ({ status, headers, body }: ExchangeResponse): Promise<void> => {
    hasBegun = true
    const hasNone = method === 'HEAD' || status === 204 || status === 304
    const framing: OutgoingFraming = hasNone
      ? 'none'
      : body === undefined || body.length !== undefined
        ? 'length'
        : version === '1.1'
          ? 'chunked'
          : 'close'
    const stays = wantsMore() && framing !== 'close'
    writeHead(
      stream,
      `${statusLine(status)}\r\n${renderHeaders(withoutHeaders(endToEnd(headers), new Set(['content-length'])), 'server')}` +
        `${framingHeader(framing, headers, body)}${stays ? '' : 'Connection: close\r\n'}\r\n`,
    )
    if (!hasNone) await writeBody(stream, body ?? wholeBody(Buffer.alloc(0)), framing, 'server')
    if (stays && wantsMore()) next = 'request'
    stream.off('close', onClose)
  }
  const reply: Reply = {
    inform: (status, headers) => {
      // Dropped if the tool does not read: nothing waits for these.
      if (version === '1.1' && !hasBegun && !stream.writableNeedDrain)
        stream.write(`${statusLine(status)}\r\n${renderHeaders(endToEnd(headers), 'server')}\r\n`, 'latin1')
    },
    send,
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

/** An answer without a body (HEAD, 304) states the length that the server gave. */
const framingHeader = (
  framing: OutgoingFraming,
  headers: ExchangeResponse['headers'],
  body: Body | undefined,
): string => {
  switch (framing) {
    case 'none': {
      const length = valueOf(headers, 'content-length')
      return length === undefined ? '' : `Content-Length: ${length}\r\n`
    }
    case 'length':
      return `Content-Length: ${body?.length ?? 0}\r\n`
    case 'chunked':
      return 'Transfer-Encoding: chunked\r\n'
    case 'close':
      return ''
  }
}
