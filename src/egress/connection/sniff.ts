import type { ByteReader } from '../http/byte-reader.js'

import { looksLikeTls } from './client-hello.js'

/** What a tool begins to speak. `silent`: it waits for the server to begin. */
export type Opening = 'tls' | 'http1' | 'http2' | 'other' | 'silent' | 'ended'

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

/** Looks at the first bytes without taking them. Only complete silence is waited for with patience. */
export const sniff = async (reader: ByteReader, patience: number): Promise<Opening> => {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<'silent'>((resolve) => {
    if (patience !== Infinity) timer = setTimeout(resolve, patience, 'silent')
  })
  try {
    for (;;) {
      const opening = openingOf(reader.peek())
      if (opening !== undefined) return opening
      const isSilent = reader.peek().length === 0
      const more = await (isSilent ? Promise.race([reader.more(), silence]) : reader.more())
      if (more === 'silent') return 'silent'
      if (!more) return reader.peek().length === 0 ? 'ended' : 'other'
    }
  } finally {
    clearTimeout(timer)
  }
}
