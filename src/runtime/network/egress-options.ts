import { parseSecretSource } from '../../egress/index.js'
import type { SecretSource, VaultAccess } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import type { Boundary, IpAddress } from '../../policy/index.js'
import { nearestKey, parseIpAddress, parseRequestHost, strayName } from '../../policy/index.js'

export interface EgressOptions {
  /** Certificates of servers' authorities that are trusted besides the usual ones, in PEM. */
  readonly authorities?: readonly string[]
  /** Names that are not looked up, and what they lead to instead. */
  readonly pins?: Readonly<Record<string, readonly string[]>>
  /** Where the values of credentials come from, by the ids of these: `env:NAME` (of `environment`), `file:PATH`, `command:…`, `keyring:…`, `vault:…`. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Of `vault:`; left out, as VAULT_ADDR, VAULT_TOKEN and VAULT_NAMESPACE of `environment` say. */
  readonly vault?: VaultAccess
}

/** What nobody uses was meant for somebody: a source without its credential, a name that no tool may reach. */
export const refuseUnused = ({ secrets = {}, pins = {} }: EgressOptions, tools: readonly Pick<Boundary, 'network' | 'credentials'>[]): void => {
  const of = 'createCordon'
  const ids = [...new Set(tools.flatMap(({ credentials }) => credentials.map(({ id }) => id)))]
  const unused = Object.keys(secrets).find((id) => !ids.includes(id))
  // What stands here by mistake may be the value itself.
  if (unused !== undefined) throw fail('option-invalid', { of, option: 'egress.secrets', expected: 'about credentials of its tools', found: CREDENTIAL_ID.test(unused) ? `about "${unused}"` : 'about something else', fix: hint(nearestKey(unused, ids), ids, 'no tool has one') })
  const stray = strayName(pinsOf(pins).keys(), tools.map(({ network }) => network))
  // Settings may be shared by many runtimes, of which not every one has a tool for each host.
  if (stray?.near !== undefined) throw fail('option-invalid', { of, option: 'egress.pins', expected: 'about hosts that its tools may reach', found: `about "${stray.name}"`, fix: `did you mean "${stray.near}"?` })
}

const CREDENTIAL_ID = /^[a-z0-9._-]{1,64}$/

const hint = (near: string | undefined, known: readonly string[], otherwise: string): string => (near !== undefined ? `did you mean "${near}"?` : known.length === 0 ? otherwise : `there are: ${known.join(', ')}`)

export const sourcesOf = (secrets: Readonly<Record<string, string>>): ReadonlyMap<string, SecretSource> =>
  new Map(Object.entries(secrets).map(([credential, text]) => [credential, parseSecretSource(credential, text)]))

export const pinsOf = (pins: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, readonly IpAddress[]> =>
  new Map(Object.entries(pins).map(([name, addresses]) => [nameOf(name), addresses.map(addressOf)]))

const nameOf = (text: string): string => {
  const host = parseRequestHost(text)
  if (host?.kind !== 'name') throw fail('host-malformed', { where: 'egress.pins', entry: text, problem: 'it is not the name of a host', fix: 'write the name alone, without a port: pins: { "api.example.org": ["192.0.2.1"] }' })
  return host.name
}

const addressOf = (text: string): IpAddress => {
  const address = parseIpAddress(text)
  if (address === undefined) throw fail('host-malformed', { where: 'egress.pins', entry: text, problem: 'it is not an IP address', fix: 'write pins: { "api.example.org": ["192.0.2.1"] }' })
  return address
}
