import type { ByteReader } from '../http/byte-reader.js'

import { looksLikeTls } from './client-hello.js'

/**
 * What a tool begins to speak. `silent`: it waits for the server to begin. `hesitant`: it said something that could
 * become a request, and waits for an answer to that.
 */
export type Opening = 'tls' | 'http1' | 'http2' | 'other' | 'silent' | 'hesitant' | 'ended'

/** In milliseconds. */
export interface Patience {
  readonly silence: number
  readonly hesitation: number
}

export const ENDLESS: Patience = { silence: Infinity, hesitation: Infinity }

const HTTP2_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const MAX_LINE = 16_384
/** Blank lines, then words: the beginning of a request, perhaps one that only a lenient server would accept. */
const MAY_BE_REQUEST = /^\s*[!-~\x80-\xff]*$|^\s*[!-~\x80-\xff]+[ \t]/

/**
 * Whatever some server might take for HTTP is HTTP, and is then read strictly: otherwise a blank line
 * before a request would be enough to get past everything that is checked about requests.
 */
const openingOf = (bytes: Buffer): Opening | undefined => {
  if (bytes.length === 0) return undefined
  if (looksLikeTls(bytes)) return 'tls'
  const text = bytes.toString('latin1', 0, MAX_LINE)
  if (HTTP2_PREFACE.startsWith(text.slice(0, HTTP2_PREFACE.length))) return text.length >= HTTP2_PREFACE.length ? 'http2' : undefined
  const start = text.search(/\S/)
  const end = start === -1 ? -1 : text.indexOf('\n', start)
  const line = start === -1 ? '' : text.slice(start, end === -1 ? undefined : end)
  if (/HTTP\//i.test(line)) return 'http1'
  if (end !== -1 || !MAY_BE_REQUEST.test(text)) return 'other'
  // A very long line is for the strict reader to judge.
  return text.length >= MAX_LINE ? 'http1' : undefined
}

/** Looks at the first bytes without taking them. */
export const sniff = async (reader: ByteReader, { silence, hesitation }: Patience): Promise<Opening> => {
  for (;;) {
    const opening = openingOf(reader.peek())
    if (opening !== undefined) return opening
    const isSilent = reader.peek().length === 0
    const more = await within(isSilent ? silence : hesitation, reader.more())
    if (more === 'late') return isSilent ? 'silent' : 'hesitant'
    if (!more) return reader.peek().length === 0 ? 'ended' : 'other'
  }
}

/** Whoever is late is still waited for: what comes then is seen by the next who asks. */
const within = async <T>(time: number, happening: Promise<T>): Promise<T | 'late'> => {
  if (time === Infinity) return happening
  let timer: NodeJS.Timeout | undefined
  try {
    return await Promise.race([happening, new Promise<'late'>((resolve) => { timer = setTimeout(resolve, time, 'late') })])
  } finally {
    clearTimeout(timer)
  }
}

/** Looks on while a hesitant beginning passes, until it is known what it is. */
export interface Lookout {
  /** False: it was a request after all, and this is the piece that shows it. */
  readonly mayPass: (chunk: Buffer) => boolean
  readonly sawRequest: () => boolean
}

export const lookOut = (): Lookout => {
  let said: Buffer = Buffer.alloc(0)
  let opening: Opening | undefined
  const sawRequest = (): boolean => opening !== undefined && opening !== 'other'
  return {
    mayPass: (chunk) => {
      if (opening === undefined) {
        said = Buffer.concat([said, chunk])
        opening = openingOf(said)
      }
      return !sawRequest()
    },
    sawRequest,
  }
}
