import { connect, constants } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Duplex } from 'node:stream'

import { fail } from '../../errors/index.js'
import { endToEnd, isHeader, valueOf } from '../http/header-list.js'
import type { HeaderList } from '../http/header-list.js'
import { MAX_HEAD_BYTES, malformed } from '../http/message-head.js'
import { bodyOf, headersByName, pairs } from '../http/serve-http2.js'
import { write } from '../http/write.js'

import type { OutgoingRequest, Transport } from './transport.js'

/** A server's settings are due at once. */
const GREETING_WITHIN = 5_000

/** Without TLS the server has not said that it speaks HTTP/2. If it does not, no request was sent yet. */
export const tryHttp2 = async (socket: Duplex, authority: string): Promise<Transport | undefined> => {
  const session = sessionOn(socket, 'http', authority)
  const isSpoken = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(resolve, GREETING_WITHIN, false)
    const settle = (answer: boolean) => (): void => {
      clearTimeout(timer)
      resolve(answer)
    }
    session.once('remoteSettings', settle(true)).once('error', settle(false)).once('close', settle(false))
  })
  if (isSpoken) return transportOn(session, 'http', authority)
  session.destroy()
  socket.destroy()
  return undefined
}

export const createHttp2Transport = (socket: Duplex, authority: string): Transport =>
  transportOn(sessionOn(socket, 'https', authority), 'https', authority)

const sessionOn = (socket: Duplex, scheme: 'http' | 'https', authority: string): ClientHttp2Session => {
  const session = connect(`${scheme}://${authority}`, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: 1 << 19, maxHeaderListSize: MAX_HEAD_BYTES },
  })
  session.on('error', () => undefined)
  session.once('connect', () => {
    session.setLocalWindowSize(1 << 20)
  })
  return session
}

const transportOn = (session: ClientHttp2Session, scheme: 'http' | 'https', authority: string): Transport => {
  let isLeaving = false
  let underWay = 0
  session.on('goaway', () => {
    isLeaving = true
  })
  session.setTimeout(IDLE_FOR, () => {
    session.close()
  })
  const send: Transport['send'] = async (request) => {
    const { method, target, headers, body, signal } = request
    if (signal.aborted) throw fail('egress-closed', {})
    underWay += 1
    const stream = session.request(
      {
        ':method': method,
        ':scheme': scheme,
        ':path': target,
        ':authority': request.authority,
        ...headersByName(headers),
        ...(isGrpc(headers) ? { te: 'trailers' } : {}),
        ...(body?.length === undefined ? {} : { 'content-length': String(body.length) }),
      },
      { endStream: body === undefined },
    )
    const onAbort = (): void => {
      stream.close(constants.NGHTTP2_CANCEL)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    stream.once('close', () => {
      underWay -= 1
      signal.removeEventListener('abort', onAbort)
    })
    if (body !== undefined)
      sendBody(stream, request).catch(() => {
        stream.close(constants.NGHTTP2_CANCEL)
      })
    const { status, raw, isWhole } = await responseOf(stream, request, authority)
    const received = plainPairs(raw)
    if (!received.every(isHeader)) throw malformed('server', 'a header contains a character that no header may')
    return {
      status,
      headers: endToEnd(received),
      body: isWhole || method === 'HEAD' ? undefined : bodyOf(stream, valueOf(received, 'content-length')),
      switched: undefined,
    }
  }
  return {
    protocol: 'h2',
    isFree: () => !isLeaving && !session.closed && !session.destroyed,
    isIdle: () => underWay === 0,
    send,
    close: () => {
      session.destroy()
    },
  }
}

/** Idle means that no exchange makes progress. Closing lets running ones end. */
const IDLE_FOR = 60_000

/** Its status is in trailers, which its servers want announced. */
const isGrpc = (headers: OutgoingRequest['headers']): boolean =>
  valueOf(headers, 'content-type')?.startsWith('application/grpc') === true

const sendBody = async (stream: ClientHttp2Stream, { body }: OutgoingRequest): Promise<void> => {
  if (body !== undefined) for await (const chunk of body.chunks) await write(stream, chunk)
  stream.end()
}

type ResponseHeaders = IncomingHttpHeaders & { ':status'?: number }

/** Without pseudo headers. */
const plainPairs = (raw: readonly string[]): HeaderList => pairs(raw).filter(([name]) => !name.startsWith(':'))

const responseOf = (
  stream: ClientHttp2Stream,
  { inform }: OutgoingRequest,
  host: string,
): Promise<{ status: number; raw: readonly string[]; isWhole: boolean }> =>
  new Promise((resolve, reject) => {
    const refuse = (problem: string, cause?: unknown): void => {
      reject(fail('upstream-broke', { host, problem }, cause))
    }
    stream.on('error', (error: Error) => {
      refuse(error.message, error)
    })
    stream.once('close', () => {
      refuse('it closed without an answer')
    })
    stream.on('headers', (headers: ResponseHeaders, _flags: number, raw: readonly string[]) => {
      if (headers[':status'] !== undefined && headers[':status'] !== 100) inform(headers[':status'], plainPairs(raw))
    })
    stream.once('response', (headers: ResponseHeaders, flags: number, raw: readonly string[]) => {
      resolve({ status: headers[':status'] ?? 0, raw, isWhole: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0 })
    })
  })
