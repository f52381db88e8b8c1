import type { ByteReader } from '../http/byte-reader.js'

import { looksLikeTls } from './client-hello.js'

/** What a tool begins to speak. `silent`: it waits for the server to begin. */
export type Opening = 'tls' | 'http1' | 'http2' | 'other' | 'silent' | 'ended'

const HTTP2_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const METHOD_BEGINS = /^[A-Z][A-Z-]{0,31}$/
const METHOD = /^[A-Z][A-Z-]{0,31} /

const openingOf = (bytes: Buffer): Opening | undefined => {
  if (bytes.length === 0) return undefined
  if (looksLikeTls(bytes)) return 'tls'
  const text = bytes.toString('latin1', 0, 40)
  if (HTTP2_PREFACE.startsWith(text.slice(0, HTTP2_PREFACE.length))) return text.length >= HTTP2_PREFACE.length ? 'http2' : undefined
  if (METHOD.test(text)) return 'http1'
  return METHOD_BEGINS.test(text) ? undefined : 'other'
}

/** Looks at the first bytes without taking them. */
export const sniff = async (reader: ByteReader, patience: number): Promise<Opening> => {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<'silent'>((resolve) => {
    if (patience !== Infinity) timer = setTimeout(resolve, patience, 'silent')
  })
  try {
    for (;;) {
      const opening = openingOf(reader.peek())
      if (opening !== undefined) return opening
      const more = await Promise.race([reader.more(), silence])
      if (more === 'silent') return reader.peek().length === 0 ? 'silent' : 'other'
      if (!more) return reader.peek().length === 0 ? 'ended' : 'other'
    }
  } finally {
    clearTimeout(timer)
  }
}
