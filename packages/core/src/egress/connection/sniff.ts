import type { ByteReader } from '../http/byte-reader.js'
import { inTime } from '../in-time.js'

import { looksLikeTls } from './client-hello.js'

/**
 * The protocol of the tool's first bytes. `silent`: it waits for the server. `hesitant`: it paused in what could become
 * a request.
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
const NAME = Buffer.from('http/')
const EMPTY: Buffer = Buffer.alloc(0)
const [TAB, LINE_FEED, CARRIAGE_RETURN, BLANK, DELETE] = [0x09, 0x0a, 0x0d, 0x20, 0x7f]

const isBlank = (byte: number): boolean => byte === BLANK || (byte >= TAB && byte <= CARRIAGE_RETURN)
const isVisible = (byte: number): boolean => byte > BLANK && byte !== DELETE

/** Takes the bytes piece by piece, each once. Undefined if more are needed. */
type Classify = (piece: Buffer) => Exclude<Opening, 'silent' | 'hesitant' | 'ended'> | undefined

/**
 * Anything that some server might take for HTTP is HTTP, and is then read strictly. Otherwise a blank line before a
 * request would bypass all checks of requests.
 */
export const createClassifier = (): Classify => {
  let first: Buffer = EMPTY
  let length = 0
  /** Blank lines, then words: the start of a request, perhaps one that only a lenient server accepts. */
  let stage: 'blank' | 'word' | 'words' | 'no-words' = 'blank'
  let isLineOver = false
  /** How many characters of `http/` the last bytes match. */
  let named = 0

  const look = (byte: number): void => {
    if (stage === 'blank' && isBlank(byte)) return
    if (byte === LINE_FEED) {
      isLineOver = true
      return
    }
    if (stage === 'word' && (byte === BLANK || byte === TAB)) stage = 'words'
    else if (stage === 'blank' || stage === 'word') stage = isVisible(byte) ? 'word' : 'no-words'
    if (named === NAME.length) return
    const letter = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    named = letter === NAME[named] ? named + 1 : letter === NAME[0] ? 1 : 0
  }
  return (piece) => {
    const left = MAX_LINE - length
    length += piece.length
    if (first.length < HTTP2_PREFACE.length)
      first = Buffer.concat([first, piece.subarray(0, HTTP2_PREFACE.length - first.length)])
    if (length === 0) return undefined
    if (looksLikeTls(first)) return 'tls'
    for (let at = 0; at < Math.min(left, piece.length) && !isLineOver; at++) look(piece[at] ?? 0)
    if (HTTP2_PREFACE.startsWith(first.toString('latin1')))
      return first.length === HTTP2_PREFACE.length ? 'http2' : undefined
    if (named === NAME.length) return 'http1'
    if (isLineOver || stage === 'no-words') return 'other'
    // The strict reader judges a very long line.
    return length >= MAX_LINE ? 'http1' : undefined
  }
}

/** Looks at the first bytes without taking them. */
export const sniff = async (reader: ByteReader, { silence, hesitation }: Patience): Promise<Opening> => {
  const classify = createClassifier()
  let seen = 0
  for (;;) {
    const bytes = reader.peek()
    const opening = classify(bytes.subarray(seen))
    seen = bytes.length
    if (opening !== undefined) return opening
    const isSilent = seen === 0
    const more = await inTime(isSilent ? silence : hesitation, reader.more())
    if (more === 'late') return isSilent ? 'silent' : 'hesitant'
    if (!more) return reader.peek().length === 0 ? 'ended' : 'other'
  }
}

/** Inspects a hesitant start while it is passed on, until its protocol is known. */
export interface Lookout {
  /** False if this piece shows that it is a request. */
  readonly mayPass: (chunk: Buffer) => boolean
  readonly sawRequest: () => boolean
}

export const lookOut = (): Lookout => {
  const classify = createClassifier()
  let opening: Opening | undefined
  const sawRequest = (): boolean => opening !== undefined && opening !== 'other'
  return {
    mayPass: (chunk) => {
      opening ??= classify(chunk)
      return !sawRequest()
    },
    sawRequest,
  }
}
