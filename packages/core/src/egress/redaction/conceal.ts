import type { Body } from '../http/body.js'
import type { ExchangeResponse } from '../http/exchange.js'
import type { HeaderList } from '../http/header-list.js'
import { valueOf, withoutHeaders } from '../http/header-list.js'
import { inTime } from '../in-time.js'

import { searchedFile } from './compressed-file.js'
import { codingsOf, decoded } from './content-coding.js'
import type { Cuts } from './cuts.js'
import { grpcCuts, lineCuts, webSocketCuts } from './cuts.js'
import type { NeedleSet } from './needle-search.js'
import type { Redactor } from './redactor.js'
import { createRedactor, redactNeedles } from './redactor.js'

export interface Concealment {
  readonly headers: (headers: HeaderList) => HeaderList
  readonly response: (response: ExchangeResponse) => ExchangeResponse
  /** For the bytes after a change of protocol. */
  readonly webSocket: () => Redactor | undefined
  readonly count: () => number
}

/** They describe the encoded body, which is gone. */
const OF_THE_ENCODED = new Set([
  'content-encoding',
  'content-length',
  'content-md5',
  'digest',
  'repr-digest',
  'content-digest',
])

export const createConcealment = (needles: NeedleSet | undefined, host: string): Concealment => {
  if (needles === undefined)
    return {
      headers: (headers) => headers,
      response: (response) => response,
      webSocket: () => undefined,
      count: () => 0,
    }
  let found = 0
  const redactors: Redactor[] = []
  const redactor = (cuts: Cuts): Redactor => {
    const made = createRedactor(needles, cuts)
    redactors.push(made)
    return made
  }
  const conceal = (text: string): string => {
    const { text: concealed, count } = redactNeedles(needles, text)
    found += count
    return concealed
  }
  const headers = (list: HeaderList): HeaderList => list.map(([name, value]) => [conceal(name), conceal(value)])
  const bodyOf = (body: Body, cuts: Cuts): Body => ({
    length: body.length,
    chunks: covered(
      searchedFile(body.chunks, () => redactor(lineCuts()), host),
      redactor(cuts),
    ),
    trailers: () => headers(body.trailers()),
  })
  return {
    headers,
    response: ({ status, headers: list, body }) => {
      const own = headers(list)
      const isEncoded = codingsOf(own).length > 0
      const plain = body === undefined ? undefined : decoded(body, own, host)
      return {
        status,
        // Also of an answer to HEAD: how well the body can be compressed tells of a secret in it.
        headers: isEncoded ? withoutHeaders(own, OF_THE_ENCODED) : own,
        body: plain === undefined ? undefined : bodyOf(plain, cutsFor(own, isEncoded)),
      }
    },
    webSocket: () => redactor(webSocketCuts()),
    count: () => redactors.reduce((sum, { count }) => sum + count(), found),
  }
}

/**
 * A decoded body is cut into blocks: the server's own cuts lie where they do because of how well the body could be
 * compressed, and so tell of a secret in it. Events are too urgent for that.
 */
const cutsFor = (headers: HeaderList, isDecoded: boolean): Cuts => {
  const type = valueOf(headers, 'content-type') ?? ''
  if (type.startsWith('application/grpc')) return grpcCuts()
  return lineCuts(isDecoded && !type.startsWith('text/event-stream') ? BLOCK : 1)
}

const BLOCK = 16_384

async function* covered(chunks: AsyncIterable<Buffer>, redactor: Redactor): AsyncGenerator<Buffer, undefined> {
  const pieces = chunks[Symbol.asyncIterator]()
  try {
    for (let next = pieces.next(); ; next = pieces.next()) {
      if (redactor.isHolding() && (await inTime(PAUSE, next)) === 'late') {
        const ready = redactor.pause()
        if (ready.length > 0) yield ready
      }
      const piece = await next
      if (piece.done === true) break
      const ready = redactor.push(piece.value)
      if (ready.length > 0) yield ready
    }
    const rest = redactor.end()
    if (rest.length > 0) yield rest
  } finally {
    // Not awaited: the next piece may never come.
    pieces.return?.().catch(() => undefined)
  }
}

/** Milliseconds. Longer than servers need between two writes of one answer, and short for one who follows a log. */
const PAUSE = 200
