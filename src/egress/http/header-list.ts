/** Names as they were sent; compared without regard to case. Values are one character per byte. */
export type Header = readonly [name: string, value: string]
export type HeaderList = readonly Header[]

/**
 * What others take a name for. Many servers know headers as variables (CGI, WSGI, PHP), where every mark
 * is the same one: `X_Api.Key` is `X-Api-Key` to them. Whoever judges or removes has to see it so, too.
 */
export const looseName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')

export const valuesOf = (headers: HeaderList, name: string): readonly string[] =>
  headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value)

export const valueOf = (headers: HeaderList, name: string): string | undefined =>
  headers.find(([key]) => key.toLowerCase() === name)?.[1]

/** In any spelling; the names as `looseName` writes them. */
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

/** What is meant for the other end: neither about this connection, nor named by `Connection` as such. */
export const endToEnd = (headers: HeaderList): HeaderList =>
  withoutHeaders(headers, new Set([...HOP_BY_HOP, ...membersOf(headers, 'connection').map(looseName)]))

const FRAMING = new Set(['content-length', 'transfer-encoding'])

/** `Content_Length` is nothing to us, and may be the length of the body to the next one who reads it. */
export const hasDisguisedFraming = (headers: HeaderList): boolean =>
  headersLike(headers, FRAMING).some(([name]) => !FRAMING.has(name.toLowerCase()))

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Tab, visible characters, and bytes beyond ASCII.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export const isHeaderName = (text: string): boolean => TOKEN.test(text)
export const isHeaderValue = (text: string): boolean => VALUE.test(text)
