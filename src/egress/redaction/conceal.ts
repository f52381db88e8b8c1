import type { Body } from '../http/body.js'
import type { ExchangeResponse } from '../http/exchange.js'
import type { HeaderList } from '../http/header-list.js'
import { withoutHeaders } from '../http/header-list.js'

import { searchedFile } from './compressed-file.js'
import { decoded } from './content-coding.js'
import type { NeedleSet } from './needle-search.js'
import type { Redactor } from './redactor.js'
import { createRedactor, redactText } from './redactor.js'

export interface Concealment {
  readonly headers: (headers: HeaderList) => HeaderList
  readonly response: (response: ExchangeResponse) => ExchangeResponse
  /** For the bytes after a change of protocol. */
  readonly stream: () => Redactor | undefined
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
    return { headers: (headers) => headers, response: (response) => response, stream: () => undefined, count: () => 0 }
  let found = 0
  const redactors: Redactor[] = []
  const redactor = (): Redactor => {
    const made = createRedactor(needles)
    redactors.push(made)
    return made
  }
  const conceal = (text: string): string => {
    const { text: concealed, count } = redactText(needles, text)
    found += count
    return concealed
  }
  const headers = (list: HeaderList): HeaderList => list.map(([name, value]) => [conceal(name), conceal(value)])
  const bodyOf = (body: Body): Body => ({
    length: body.length,
    chunks: covered(searchedFile(body.chunks, redactor, host), redactor()),
    trailers: () => headers(body.trailers()),
  })
  return {
    headers,
    response: ({ status, headers: list, body }) => {
      if (body === undefined) return { status, headers: headers(list), body }
      const plain = decoded(body, list, host)
      return {
        status,
        headers: headers(plain === body ? list : withoutHeaders(list, OF_THE_ENCODED)),
        body: bodyOf(plain),
      }
    },
    stream: redactor,
    count: () => redactors.reduce((sum, { count }) => sum + count(), found),
  }
}

async function* covered(chunks: AsyncIterable<Buffer>, redactor: Redactor): AsyncGenerator<Buffer, undefined> {
  for await (const chunk of chunks) {
    const ready = redactor.push(chunk)
    if (ready.length > 0) yield ready
  }
  const rest = redactor.end()
  if (rest.length > 0) yield rest
}
