// URLs in arguments. One library reads as a path what another reads as a host, so a URL with more than one reading is
// refused.
import { parseHostName, parseIpAddress, renderIpAddress } from '../../policy/index.js'
import type { RequestHost } from '../../policy/index.js'

export interface UrlTarget {
  readonly host: RequestHost
  readonly port: number
  /** Still percent-encoded. `/` if the URL has none. */
  readonly path: string
}

export type UrlReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'url'; readonly target: UrlTarget }
  | { readonly kind: 'unreadable'; readonly problem: string }

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    http: 80,
    ws: 80,
    https: 443,
    wss: 443,
    ftp: 21,
    ftps: 990,
    ssh: 22,
    sftp: 22,
    git: 9418,
    ldap: 389,
    ldaps: 636,
    postgres: 5432,
    postgresql: 5432,
    mysql: 3306,
    redis: 6379,
    mongodb: 27017,
    amqp: 5672,
  }),
)

const HAS_AUTHORITY = /^[a-z][a-z0-9+.-]*:[/\\]{2}/i
// Browsers and fetch() accept these with fewer slashes, or with none.
const LENIENT = /^(https?|wss?|ftp):\S/i
const STRICT =
  /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?<port>\d{1,5}))?(?<rest>[/?#][^]*)?$/i
const WHITESPACE_OR_CONTROL = /[\s\x00-\x1f\x7f\\]/
const SCHEME_OF_FILES = /^file:/i

/** `isUrl`: the parameter is marked as a URL, so anything else is refused. */
export const readUrl = (spelling: string, isUrl: boolean): UrlReading => {
  if (SCHEME_OF_FILES.test(spelling)) return isUrl ? unreadable('it is a file: URL') : { kind: 'none' }
  if (!isUrl && !HAS_AUTHORITY.test(spelling) && !LENIENT.test(spelling)) return { kind: 'none' }
  if (WHITESPACE_OR_CONTROL.test(spelling)) return unreadable('a URL has no spaces, control characters or backslashes')
  const { scheme, host, port, rest } = STRICT.exec(spelling)?.groups ?? {}
  if (scheme === undefined || host === undefined)
    return unreadable('it is not a plain URL such as https://host:port/path, without a user name')
  return targetOf(host, port ?? DEFAULT_PORTS.get(scheme.toLowerCase()), rest ?? '/')
}

const unreadable = (problem: string): UrlReading => ({ kind: 'unreadable', problem })

const targetOf = (host: string, port: string | number | undefined, rest: string): UrlReading => {
  const number = Number(port ?? 0)
  if (port === undefined) return unreadable('its scheme has no known port; write the port')
  if (number < 1 || number > 65535) return unreadable('its port is not a number from 1 to 65535')
  const end = rest.search(/[?#]/)
  const path = (end === -1 ? rest : rest.slice(0, end)) || '/'
  const found = (known: RequestHost): UrlReading => ({ kind: 'url', target: { host: known, port: number, path } })
  const address = parseIpAddress(host.startsWith('[') ? host.slice(1, -1) : host)
  if (address !== undefined) return found({ kind: 'address', address })
  const name = parseHostName(host)
  if (name.kind === 'problem') return unreadable(`its host ${JSON.stringify(host)}: ${name.problem}`)
  return found({ kind: 'name', name: name.host })
}

export const renderTarget = ({ host, port }: UrlTarget): string => {
  const text = host.kind === 'name' ? host.name : renderIpAddress(host.address)
  return host.kind === 'address' && host.address.family === 6 ? `[${text}]:${port}` : `${text}:${port}`
}
