import type { Duplex } from 'node:stream'

import { fail } from '../../errors/index.js'
import type { Body } from '../http/body.js'
import { readBody } from '../http/body.js'
import { readBytes } from '../http/byte-reader.js'
import { endToEnd, membersOf } from '../http/header-list.js'
import type { ResponseHead } from '../http/message-head.js'
import { readResponseHead, responseFraming } from '../http/message-head.js'
import { framingHeader, renderHeaders, writeBody, writeHead } from '../http/write.js'

import type { OutgoingRequest, Transport } from './transport.js'

export const createHttp1Transport = (stream: Duplex, host: string, onFree: () => void): Transport => {
  const reader = readBytes(stream)
  let isBusy = false
  let isUsable = true

  const close = (): void => {
    isUsable = false
    stream.destroy()
  }
  // An end or any byte between two requests makes the connection useless.
  const onIdleWord = (): void => {
    if (!isBusy && isUsable && stream.read() !== null) close()
  }
  const onIdleEnd = (): void => {
    if (!isBusy) close()
  }
  stream.on('readable', onIdleWord).on('end', onIdleEnd)
  const awaitHead = async ({ inform }: OutgoingRequest): Promise<ResponseHead> => {
    for (;;) {
      const head = await readResponseHead(reader)
      if (head === undefined) throw fail('upstream-broke', { host, problem: 'it closed without an answer' })
      if (head.status >= 200 || head.status === 101) return head
      if (head.status !== 100) inform(head.status, endToEnd(head.headers))
    }
  }
  const send: Transport['send'] = async (request) => {
    isBusy = true
    const { signal } = request
    if (signal.aborted) {
      close()
      throw fail('egress-closed', {})
    }
    signal.addEventListener('abort', close, { once: true })
    const release = (stays: boolean): void => {
      signal.removeEventListener('abort', close)
      isBusy = false
      if (stays && isUsable) onFree()
      else close()
    }
    try {
      const sending = sendRequest(stream, request)
      // A server may answer and close before it has read the whole request. The answer counts.
      let isSent = false
      const outcome = sending.then(
        () => {
          isSent = true
        },
        (error: unknown) => {
          // A broken request must not be taken for a whole one.
          if (!stream.destroyed && request.body !== undefined) close()
          throw error
        },
      )
      outcome.catch(() => undefined)
      const head = await Promise.race([awaitHead(request), outcome.then(() => new Promise<never>(() => undefined))])
      if (head.status === 101) {
        signal.removeEventListener('abort', close)
        isUsable = false
        stream.off('readable', onIdleWord).off('end', onIdleEnd)
        reader.release()
        return { status: 101, headers: head.headers, body: undefined, switched: stream }
      }
      const framing = responseFraming(head, request.method)
      const stays =
        head.version === '1.1' &&
        framing.kind !== 'until-close' &&
        !membersOf(head.headers, 'connection').includes('close')
      const body = readBody(reader, framing, 'server')
      const isFree = (): boolean => stays && isSent
      if (body === undefined) release(isFree())
      return {
        status: head.status,
        headers: endToEnd(head.headers),
        body: body === undefined ? undefined : thenRelease(body, isFree, release),
        switched: undefined,
      }
    } catch (error) {
      release(false)
      throw error
    }
  }
  return {
    protocol: 'http/1.1',
    isFree: () =>
      isUsable &&
      !isBusy &&
      !stream.destroyed &&
      !stream.readableEnded &&
      stream.readableLength === 0 &&
      reader.peek().length === 0,
    isIdle: () => !isBusy,
    send,
    close,
  }
}

const sendRequest = async (stream: Duplex, request: OutgoingRequest): Promise<void> => {
  const { method, target, authority, headers, body } = request
  const framing = body === undefined ? 'none' : body.length === undefined ? 'chunked' : 'length'
  // These methods state an empty body.
  const length = body?.length ?? (body === undefined && ['POST', 'PUT', 'PATCH'].includes(method) ? 0 : undefined)
  writeHead(
    stream,
    `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n${renderHeaders(headers, 'tool')}` +
      `${framingHeader(framing, length)}\r\n`,
  )
  if (body !== undefined) await writeBody(stream, body, framing, 'tool')
}

/** After its last piece the connection is free. If the body is given up, it is closed. */
const thenRelease = (body: Body, stays: () => boolean, release: (stays: boolean) => void): Body => {
  async function* chunks(): AsyncGenerator<Buffer, undefined> {
    let isWhole = false
    try {
      for await (const chunk of body.chunks) yield chunk
      isWhole = true
    } finally {
      release(isWhole && stays())
    }
  }
  return { ...body, chunks: chunks() }
}
