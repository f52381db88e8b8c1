import { parseRequestHost, renderHost, renderIpAddress } from '../policy/index.js'
import type { RequestHost } from '../policy/index.js'

export interface Endpoint {
  readonly host: RequestHost
  readonly port: number
}

const PARTS = /^(?<host>\[[^\]]*\]|[^:]*)(?::(?<port>[1-9]\d{0,4}))?$/

/** `host`, `host:port` or `[v6]:port`. Undefined for any other spelling. */
export const parseEndpoint = (text: string, defaultPort: number | undefined): Endpoint | undefined => {
  const { host: hostText = '', port: portText } = PARTS.exec(text)?.groups ?? {}
  const host = parseRequestHost(hostText)
  const port = portText === undefined ? defaultPort : Number(portText)
  return host === undefined || port === undefined || port > 65535 ? undefined : { host, port }
}

export const renderEndpoint = ({ host, port }: Endpoint): string => `${inUrl(host)}:${port}`

/** For `Host` and `:authority`. */
export const renderAuthority = ({ host, port }: Endpoint, scheme: 'http' | 'https'): string =>
  port === (scheme === 'https' ? 443 : 80) ? inUrl(host) : `${inUrl(host)}:${port}`

const inUrl = (host: RequestHost): string =>
  host.kind === 'address' && host.address.family === 6 ? `[${renderIpAddress(host.address)}]` : renderHost(host)

export const isSameEndpoint = (a: Endpoint, b: Endpoint): boolean => renderEndpoint(a) === renderEndpoint(b)
