// A server on the network: an entry with a "url". Its cell has the bridge, and reaches that host alone. The headers of
// the entry are credentials: the proxy puts them into requests, and the cell never has them.
import { isThisHost, parsePolicy } from 'cordon/policy'
import type { PlacedPolicy } from 'cordon/policy'
import type { SecretSource } from 'cordon/egress'
import { isMapping, isTexts } from 'cordon/shapes'

import { fail } from '../errors/errors.js'

export interface RemoteServer {
  readonly url: string
  /** Whether the user wrote an `Authorization` of his own. */
  readonly isAuthorized: boolean
  /** Of its cell. */
  readonly policy: PlacedPolicy
  /** The sources of its headers. */
  readonly secrets: ReadonlyMap<string, SecretSource>
}

/** `name`: as Cordon calls it. `source`: the file and its entry. */
export const readRemoteServer = (
  name: string,
  source: string,
  entry: Readonly<Record<string, unknown>>,
): RemoteServer => {
  const given = urlOfEntry(entry)
  const headers = headersOfEntry(entry) ?? {}
  const invalid = (problem: string, fix: string) => fail('usage-error', { problem: `${source}: ${problem}`, fix })
  if (entry['type'] === 'sse')
    throw invalid(
      'the transport HTTP+SSE of the revision 2024-11-05 is not supported',
      'most such servers speak streamable HTTP too, at another path: write "type": "http" and that "url"',
    )
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw invalid('"url" is not an address such as https://mcp.example.org/mcp', 'put secrets into "headers"')
  // A cell has a loopback of its own, or none.
  if (isThisHost(url.hostname))
    throw invalid(
      `${url.host} is this host, which cells do not reach`,
      'let Cordon start the server: cordon mcp --publish PORT/PATH -- SERVER…',
    )
  if (!isMapping(headers) || !isTexts(Object.values(headers)))
    throw invalid('"headers" is not a mapping of names to texts', 'write it like { "Authorization": "Bearer …" }')
  const texts = Object.entries(headers as Readonly<Record<string, string>>)
  const [first] = texts
  if (first !== undefined && url.protocol === 'http:')
    throw invalid(`its header ${first[0]} would go over the network in the clear`, 'use https')
  const variable = texts.find(([, text]) => text.includes('${'))
  if (variable !== undefined)
    throw invalid(
      `its header ${variable[0]} names a variable, and Cordon gives variables of yours to no host that a file names`,
      'write the value itself into a file that only you can read (chmod 600)',
    )
  url.hash = ''
  const host = hostOf(url)
  const credentials = texts.map(([header], at) => ({
    id: `mcp.${name.toLowerCase()}.${at}`,
    inject: { host, header, format: '{value}' },
  }))
  const policy = parsePolicy({ network: [{ host, methods: ['GET', 'POST', 'DELETE'] }], credentials }, source)
  return {
    url: url.href,
    isAuthorized: texts.some(([header]) => header.toLowerCase() === 'authorization'),
    policy: { source, policy, whereIs: () => source },
    secrets: new Map(
      texts.map(([header, text], at) => [
        credentials[at]?.id ?? '',
        { kind: 'given', what: `the header ${header} of ${source}`, read: () => ({ bytes: Buffer.from(text) }) },
      ]),
    ),
  }
}

/** With the token of a login, which egress puts into its requests. */
export const withLogin = (name: string, remote: RemoteServer): RemoteServer => {
  const server = new URL(remote.url)
  const id = `mcp.${name.toLowerCase()}.login`
  const host = hostOf(server)
  const inject = { host, header: 'Authorization', format: 'Bearer {value}' }
  const { source, policy } = remote.policy
  const { credentials } = parsePolicy({ network: [host], credentials: [{ id, inject }] }, source)
  return {
    ...remote,
    policy: { ...remote.policy, policy: { ...policy, credentials: [...policy.credentials, ...credentials] } },
    secrets: new Map([...remote.secrets, [id, { kind: 'login', server }]]),
  }
}

const hostOf = ({ protocol, hostname, port }: URL): string =>
  `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`

/** Clients write the address and the headers of a remote server under different keys. */
export const ADDRESS_KEYS = ['url', 'httpUrl', 'serverUrl'] as const
export const HEADER_KEYS = ['headers', 'http_headers'] as const

export const urlOfEntry = (entry: Readonly<Record<string, unknown>>): unknown => firstOf(entry, ADDRESS_KEYS)

const headersOfEntry = (entry: Readonly<Record<string, unknown>>): unknown => firstOf(entry, HEADER_KEYS)

const firstOf = (entry: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown => {
  const key = keys.find((each) => entry[each] !== undefined)
  return key === undefined ? undefined : entry[key]
}
