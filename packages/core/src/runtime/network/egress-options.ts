import { parseSecretSource } from '../../egress/index.js'
import type { SecretSource, VaultAccess } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { Boundary, IpAddress } from '../../policy/index.js'
import { nearestKey, parseIpAddress, parseRequestHost, strayName } from '../../policy/index.js'

export interface EgressOptions {
  /** Further trusted certificate authorities of servers, in PEM. */
  readonly authorities?: readonly string[]
  /** Host names with fixed addresses. */
  readonly pins?: Readonly<Record<string, readonly string[]>>
  /**
   * The sources of credentials by their ids: `env:NAME` (from `environment`), `file:PATH`, `command:…`, `keyring:…`,
   * `vault:…`, `store:…`.
   */
  readonly secrets?: Readonly<Record<string, string>>
  /** For `vault:`. Default: VAULT_ADDR, VAULT_TOKEN and VAULT_NAMESPACE of `environment`. */
  readonly vault?: VaultAccess
  /** For `store:TEAM/NAME`. A runner with a sealing key needs none. */
  readonly stored?: (team: string, ref: string) => Promise<Buffer>
}

/**
 * Refuses a name that is nearly a credential or host of a tool. Other unused names are allowed: runtimes with different
 * tools may share their settings.
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
  new Map(
    Object.entries(secrets).map(([credential, text]) => [
      credential,
      parseSecretSource(credential, text, process.cwd()),
    ]),
  )

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
