/** Names as sent, compared without case. Values have one character per byte. */
export type Header = readonly [name: string, value: string]
export type HeaderList = readonly Header[]

/**
 * The name as many servers see it. They turn headers into variables (CGI, WSGI, PHP), where `X_Api.Key` is `X-Api-Key`.
 * To judge or remove a header, we have to see it that way too.
 */
export const looseName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')

export const valuesOf = (headers: HeaderList, name: string): readonly string[] =>
  headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value)

export const valueOf = (headers: HeaderList, name: string): string | undefined =>
  headers.find(([key]) => key.toLowerCase() === name)?.[1]

/** In any spelling. `names` are as `looseName` writes them. */
export const headersLike = (headers: HeaderList, names: ReadonlySet<string>): HeaderList =>
  headers.filter(([name]) => names.has(looseName(name)))

export const withoutHeaders = (headers: HeaderList, names: ReadonlySet<string>): HeaderList =>
  headers.filter(([name]) => !names.has(looseName(name)))

export const withHeader = (headers: HeaderList, name: string, value: string): HeaderList => [
  ...withoutHeaders(headers, new Set([looseName(name)])),
  [name, value],
]

/** The members of comma-separated lists, in lower case. */
export const membersOf = (headers: HeaderList, name: string): readonly string[] =>
  valuesOf(headers, name)
    .flatMap((value) => value.split(','))
    .map((member) => member.trim().toLowerCase())
    .filter((member) => member !== '')

/** Headers about one connection, which end with it. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]

/** Without headers about this connection, or that `Connection` names. */
export const endToEnd = (headers: HeaderList): HeaderList =>
  withoutHeaders(headers, new Set([...HOP_BY_HOP, ...membersOf(headers, 'connection').map(looseName)]))

/** Written anew for the server. */
const MADE_ANEW = new Set(['host', 'content-length', 'expect'])

export const forServer = (headers: HeaderList): HeaderList => withoutHeaders(endToEnd(headers), MADE_ANEW)

const FRAMING = new Set(['content-length', 'transfer-encoding'])

/** `Content_Length` means nothing here, but the next reader may take it for the length of the body. */
export const hasDisguisedFraming = (headers: HeaderList): boolean =>
  headersLike(headers, FRAMING).some(([name]) => !FRAMING.has(name.toLowerCase()))

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Tab, visible characters, and bytes beyond ASCII.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export const isHeader = ([name, value]: Header): boolean => isHeaderName(name) && isHeaderValue(value)
export const isHeaderName = (text: string): boolean => TOKEN.test(text)
export const isHeaderValue = (text: string): boolean => VALUE.test(text)
