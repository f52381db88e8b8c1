import { parseSecretSource } from '../../egress/index.js'
import type { SecretSource, VaultAccess } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { Boundary, IpAddress } from '../../policy/index.js'
import { nearestKey, parseIpAddress, parseRequestHost, strayName } from '../../policy/index.js'

export interface EgressOptions {
  /** Certificates of servers' authorities that are trusted besides the usual ones, in PEM. */
  readonly authorities?: readonly string[]
  /** Names that are not looked up, and what they lead to instead. */
  readonly pins?: Readonly<Record<string, readonly string[]>>
  /**
   * Where the values of credentials come from, by the ids of these: `env:NAME` (of `environment`), `file:PATH`,
   * `command:…`, `keyring:…`, `vault:…`, `store:…`.
   */
  readonly secrets?: Readonly<Record<string, string>>
  /** Of `vault:`; left out, as VAULT_ADDR, VAULT_TOKEN and VAULT_NAMESPACE of `environment` say. */
  readonly vault?: VaultAccess
  /** Of `store:TEAM/NAME`. A runner that was given a key has it by itself. */
  readonly stored?: (team: string, ref: string) => Promise<Buffer>
}

/**
 * What is nearly a credential or a host of one of the tools was meant for that. Anything else that nobody uses is let
 * be: settings may be shared by many runtimes, of which not every one has each tool.
 */
export const refuseSlips = (
  { secrets = {}, pins = {} }: EgressOptions,
  tools: readonly Pick<Boundary, 'network' | 'credentials'>[],
): void => {
  const slip = (option: string, what: string, given: string, near: string): CordonError =>
    fail('option-invalid', {
      of: 'createCordon',
      option,
      expected: `about ${what} of its tools`,
      found: `about "${given}"`,
      fix: `did you mean "${near}"?`,
    })
  const used = new Set(tools.flatMap(({ credentials }) => credentials.map(({ id }) => id)))
  const lacking = [...used].filter((id) => !Object.hasOwn(secrets, id))
  for (const id of Object.keys(secrets)) {
    const near = used.has(id) ? undefined : nearestKey(id, lacking)
    if (near !== undefined) throw slip('egress.secrets', 'credentials', id, near)
  }
  for (const name of pinsOf(pins).keys()) {
    const near = strayName(
      [name],
      tools.map(({ network }) => network),
    )?.near
    if (near !== undefined) throw slip('egress.pins', 'hosts', name, near)
  }
}

export const sourcesOf = (secrets: Readonly<Record<string, string>>): ReadonlyMap<string, SecretSource> =>
  new Map(Object.entries(secrets).map(([credential, text]) => [credential, parseSecretSource(credential, text)]))

export const pinsOf = (pins: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, readonly IpAddress[]> =>
  new Map(Object.entries(pins).map(([name, addresses]) => [nameOf(name), addresses.map(addressOf)]))

const nameOf = (text: string): string => {
  const host = parseRequestHost(text)
  if (host?.kind !== 'name')
    throw fail('host-malformed', {
      where: 'egress.pins',
      entry: text,
      problem: 'it is not the name of a host',
      fix: 'write the name alone, without a port: pins: { "api.example.org": ["192.0.2.1"] }',
    })
  return host.name
}

const addressOf = (text: string): IpAddress => {
  const address = parseIpAddress(text)
  if (address === undefined)
    throw fail('host-malformed', {
      where: 'egress.pins',
      entry: text,
      problem: 'it is not an IP address',
      fix: 'write pins: { "api.example.org": ["192.0.2.1"] }',
    })
  return address
}
