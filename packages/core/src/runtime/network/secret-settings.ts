import { SHORTEST_SECRET, exposedSource, exposedValue, variableOf } from '../../egress/index.js'
import type { ExposedSecret, SecretHost, SecretSource, SecretStore, VaultAccess } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { PLATFORM } from '../../platform/index.js'
import type { Boundary } from '../../policy/index.js'
import { runOnHost } from '../../sandbox/index.js'
import { withoutUndefined } from '../../shapes/index.js'

type Variables = Readonly<Record<string, string | undefined>>

export interface SecretSettings {
  /** By the ids of credentials. */
  readonly sources: ReadonlyMap<string, SecretSource>
  readonly host: SecretHost
}

/** For a runtime without credentials. */
export const NO_SECRETS: SecretSettings = {
  sources: new Map(),
  host: {
    environment: {},
    run: () => Promise.resolve({ kind: 'failed', problem: 'no command is run for a secret here' }),
    platform: 'linux',
    vault: undefined,
  },
}

/** Commands run with these variables, which also name the address of Vault. */
export const secretHostOf = (
  environment: Variables,
  vault: VaultAccess | undefined = vaultOf(environment),
  stored?: SecretHost['stored'],
): SecretHost => ({
  environment,
  run: (argv, folder) => runOnHost(argv, environment, folder),
  platform: PLATFORM.name,
  vault,
  stored,
})

/** The variables that Vault's own programs read. */
const vaultOf = ({
  VAULT_ADDR: address,
  VAULT_TOKEN: token,
  VAULT_NAMESPACE: namespace,
}: Variables): VaultAccess | undefined =>
  address === undefined || token === undefined ? undefined : withoutUndefined({ address, token, namespace })

/**
 * The variables that a cell may get: none that holds a credential, and no other one that contains the same value.
 * `refusePassing` refuses policies that would pass one on. This holds whatever they say.
 */
export const withoutSecrets = <Value extends string | undefined>(
  environment: Readonly<Record<string, Value>>,
  sources: Iterable<SecretSource>,
): Readonly<Record<string, Value>> => {
  const names = new Set([...sources].flatMap((source) => variableOf(source) ?? []))
  if (names.size === 0) return environment
  const values = [...names]
    .flatMap((name) => environment[name] ?? [])
    .filter((value) => value.length >= SHORTEST_SECRET)
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name, text]) => !names.has(name) && !values.some((value) => text?.includes(value) === true),
    ),
  )
}

/** Refuses a tool whose policy passes on a credential, as far as this is known before a value is read. */
export const refusePassing = (
  tool: string,
  { environment }: Pick<Boundary, 'environment'>,
  sources: SecretSettings['sources'],
  host: Variables,
): void => {
  const found = exposedSource(sources, environment, host)
  if (found === undefined) return
  const { variable, id } = found
  throw found.how === 'content'
    ? exposure(found)
    : fail('policy-conflict', {
        source: `policy of the tool ${tool}`,
        where: 'environment',
        conflict: `${variable} holds the credential "${id}", and would be passed on to the tool`,
        fix: `leave ${variable} out of environment; the proxy puts the value in`,
      })
}

const exposure = ({ variable, id }: ExposedSecret): CordonError =>
  fail('credential-exposed', { variable, credential: id })

/** Refuses a call whose environment contains the value of a credential. */
export const refuseExposed = async (
  { environment, credentials }: Boundary,
  store: SecretStore,
  { environment: host }: SecretHost,
): Promise<void> => {
  const valued = await Promise.all(
    credentials.map(async (credential) => ({ credential, value: (await store.get(credential.id)).reveal() })),
  )
  const found = exposedValue(valued, environment, host)
  if (found !== undefined) throw exposure(found)
}
