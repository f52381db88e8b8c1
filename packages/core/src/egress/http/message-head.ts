// Reads the head of an HTTP/1 message (RFC 9112) if it has only one reading: no bare line feeds, no folded lines, no
// blank before a colon, one length.
import { fail } from '../../errors/index.js'

import type { ByteReader } from './byte-reader.js'
import type { Header, HeaderList } from './header-list.js'
import { hasDisguisedFraming, isHeaderName, isHeaderValue, membersOf, valuesOf } from './header-list.js'

export type Side = 'tool' | 'server'
export type HttpVersion = '1.0' | '1.1'

export interface RequestHead {
  readonly method: string
  /** As sent: a path with its query, a whole URL, or `host:port` for CONNECT. */
  readonly target: string
  readonly version: HttpVersion
  readonly headers: HeaderList
}

export interface ResponseHead {
  readonly status: number
  readonly version: HttpVersion
  readonly headers: HeaderList
}

export const MAX_HEAD_BYTES = 65_536
const MAX_HEADERS = 256
const HEAD_END = Buffer.from('\r\n\r\n')
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

export const malformed = (side: Side, problem: string): Error =>
  side === 'tool' ? fail('http-malformed', { problem }) : fail('answer-malformed', { problem })

/** The lines of the next head. Undefined if the stream ends before one begins. */
const readLines = async (reader: ByteReader, side: Side): Promise<readonly string[] | undefined> => {
  let checked = 0
  for (;;) {
    const bytes = reader.peek()
    const end = bytes.indexOf(HEAD_END, Math.max(0, checked - HEAD_END.length))
    const known = end === -1 ? bytes.length : end
    // Checked on arrival: a client with other line ends would wait for an answer, and we for the end of the head.
    for (let at = bytes.indexOf(LINE_FEED, checked); at !== -1 && at < known; at = bytes.indexOf(LINE_FEED, at + 1)) {
      if (bytes[at - 1] !== CARRIAGE_RETURN) throw malformed(side, 'a line does not end in CR LF')
    }
    if (known > MAX_HEAD_BYTES) throw malformed(side, `its head is longer than ${MAX_HEAD_BYTES} bytes`)
    if (end !== -1)
      return reader
        .take(end + HEAD_END.length)
        .toString('latin1', 0, end)
        .split('\r\n')
    checked = bytes.length
    if (await reader.more()) continue
    if (bytes.length === 0) return undefined
    throw malformed(side, 'it ends in the middle of its head')
  }
}

const REQUEST_LINE = /^(?<method>[A-Z][A-Z-]{0,31}) (?<target>[\x21-\x7e\x80-\xff]+) HTTP\/(?<version>1\.[01])$/
const STATUS_LINE = /^HTTP\/(?<version>1\.[01]) (?<status>[1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/

export const readRequestHead = async (reader: ByteReader): Promise<RequestHead | undefined> => {
  const [line, ...rest] = (await readLines(reader, 'tool')) ?? []
  if (line === undefined) return undefined
  const { method, target, version } = REQUEST_LINE.exec(line)?.groups ?? {}
  if (method === undefined || target === undefined) throw malformed('tool', 'the first line is no request of HTTP/1.1')
  if (target.includes('#')) throw malformed('tool', 'the URL contains a fragment')
  const headers = parseHeaders(rest, 'tool')
  if (hasDisguisedFraming(headers))
    throw malformed('tool', 'Content-Length or Transfer-Encoding is spelt in another way')
  return { method, target: target.replaceAll(/[\x80-\xff]/g, percentEncoded), version: version as HttpVersion, headers }
}

const percentEncoded = (byte: string): string => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`

export const readResponseHead = async (reader: ByteReader): Promise<ResponseHead | undefined> => {
  const [line, ...rest] = (await readLines(reader, 'server')) ?? []
  if (line === undefined) return undefined
  const { status, version } = STATUS_LINE.exec(line)?.groups ?? {}
  if (status === undefined) throw malformed('server', 'the first line is no response of HTTP/1.1')
  return { status: Number(status), version: version as HttpVersion, headers: parseHeaders(rest, 'server') }
}

export const parseHeaders = (lines: readonly string[], side: Side): HeaderList => {
  if (lines.length > MAX_HEADERS) throw malformed(side, `there are more than ${MAX_HEADERS} headers`)
  return lines.map((line): Header => {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    // A folded line begins with a blank, which no name has. No value has a bare CR.
    if (!isHeaderName(name)) throw malformed(side, 'there is a header without a proper name, or a folded one')
    const value = withoutBlanks(line, colon + 1)
    if (!isHeaderValue(value)) throw malformed(side, `the header ${name} contains a character that no header may`)
    return [name, value]
  })
}

const isBlank = (text: string, at: number): boolean => text[at] === ' ' || text[at] === '\t'

/** By hand: a regular expression for trailing blanks takes quadratic time. */
const withoutBlanks = (line: string, from: number): string => {
  let [start, end] = [from, line.length]
  while (start < end && isBlank(line, start)) start++
  while (end > start && isBlank(line, end - 1)) end--
  return line.slice(start, end)
}

export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }

const LENGTH = /^\d{1,15}$/

export const requestFraming = ({ headers, version }: RequestHead): Framing =>
  statedFraming(headers, version, 'tool') ?? { kind: 'none' }

export const responseFraming = ({ status, headers, version }: ResponseHead, method: string): Framing => {
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { kind: 'none' }
  return statedFraming(headers, version, 'server') ?? { kind: 'until-close' }
}

const statedFraming = (headers: HeaderList, version: HttpVersion, side: Side): Framing | undefined => {
  const codings = membersOf(headers, 'transfer-encoding')
  const isCoded = valuesOf(headers, 'transfer-encoding').length > 0
  const lengths = valuesOf(headers, 'content-length')
  if (isCoded && lengths.length > 0) throw malformed(side, 'it has both Content-Length and Transfer-Encoding')
  if (isCoded) {
    if (version === '1.0') throw malformed(side, 'HTTP/1.0 has no Transfer-Encoding')
    if (codings.length !== 1 || codings[0] !== 'chunked')
      throw malformed(side, 'its Transfer-Encoding is something else than chunked')
    return { kind: 'chunked' }
  }
  const [length] = lengths
  if (length === undefined) return undefined
  if (lengths.length > 1 || !LENGTH.test(length)) throw malformed(side, 'its Content-Length is not one number')
  return { kind: 'length', length: Number(length) }
}
