import { passedSecret } from '../../egress/index.js'
import type { SecretHost, SecretSource, VaultAccess } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import type { Boundary } from '../../policy/index.js'
import { runOnHost } from '../../sandbox/index.js'

type Variables = Readonly<Record<string, string | undefined>>

/** Where the values of credentials come from, by the ids of these, and what of the host is needed to read them. */
export interface SecretSettings {
  readonly sources: ReadonlyMap<string, SecretSource>
  readonly host: SecretHost
}

/** Of a runtime that has no credentials, and starts nothing for one. */
export const NO_SECRETS: SecretSettings = {
  sources: new Map(),
  host: { environment: {}, run: () => Promise.resolve({ kind: 'failed', problem: 'no command is run for a secret here' }), platform: 'linux', vault: undefined },
}

/** Commands are run with these variables, which also say where Vault is. */
export const secretHostOf = (environment: Variables, vault: VaultAccess | undefined = vaultOf(environment)): SecretHost => ({
  environment,
  run: (argv) => runOnHost(argv, environment),
  platform: process.platform,
  vault,
})

/** As Vault's own programs name them. */
const vaultOf = ({ VAULT_ADDR: address, VAULT_TOKEN: token, VAULT_NAMESPACE: namespace }: Variables): VaultAccess | undefined =>
  address === undefined || token === undefined ? undefined : { address, token, ...(namespace === undefined ? {} : { namespace }) }

const OF_VAULT = 'VAULT_TOKEN'

/**
 * What a cell may be given of these. A variable that a value is read from stays outside, whatever a policy passes on,
 * and so does every other that contains the same value.
 */
export const withoutSecrets = <Value extends string | undefined>(environment: Readonly<Record<string, Value>>, sources: Iterable<SecretSource>): Readonly<Record<string, Value>> => {
  const names = new Set([...sources].flatMap((source) => (source.kind === 'environment' ? [source.name] : source.kind === 'vault' ? [OF_VAULT] : [])))
  if (names.size === 0) return environment
  const values = [...names].flatMap((name) => environment[name] ?? []).filter((value) => value.length >= SHORTEST)
  return Object.fromEntries(Object.entries(environment).filter(([name, text]) => !names.has(name) && !values.some((value) => text?.includes(value) === true)))
}

export const refusePassing = (tool: string, { environment }: Pick<Boundary, 'environment'>, sources: SecretSettings['sources']): void => {
  const found = passedSecret(sources, environment)
  if (found !== undefined) throw fail('policy-conflict', { source: `policy of the tool ${tool}`, where: 'environment', conflict: `${found.variable} holds the credential "${found.id}", and would be passed on to the tool; leave it out, because the proxy puts the value in` })
}

/** What is shorter is part of many a text by chance. */
const SHORTEST = 6
