// The address and the headers of a remote server, in an entry of `mcpServers`. Clients write them under different keys.

export const ADDRESS_KEYS = ['url', 'httpUrl', 'serverUrl'] as const
export const HEADER_KEYS = ['headers', 'http_headers'] as const

export const urlOfEntry = (entry: Readonly<Record<string, unknown>>): unknown => firstOf(entry, ADDRESS_KEYS)

export const headersOfEntry = (entry: Readonly<Record<string, unknown>>): unknown => firstOf(entry, HEADER_KEYS)

const firstOf = (entry: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown => {
  const key = keys.find((each) => entry[each] !== undefined)
  return key === undefined ? undefined : entry[key]
}
