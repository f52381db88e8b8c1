// Granted hosts of one `cordon run`. Loaded only where there are such.
import type { SecretSource } from '../../egress/index.js'
import type { Boundary } from '../../policy/index.js'
import { createCallNetworks, openNetwork, secretHostOf, withoutSecrets } from '../../runtime/network/index.js'
import type { NetworkCall } from '../../runtime/network/index.js'
import type { CallNetwork, CallResult, CellSettings } from '../../sandbox/index.js'

import type { CommandLine } from '../command-line.js'
import type { EgressOrder } from '../settings/egress-order.js'

export interface GrantedNetwork extends Pick<CellSettings, 'proxy'> {
  readonly network?: CallNetwork
  /** What of the variables of here the command may be given. */
  readonly passed: CommandLine['environment']
}

export interface NetworkOrder extends EgressOrder {
  readonly secrets: ReadonlyMap<string, SecretSource>
  readonly environment: CommandLine['environment']
  /** Whether this process is itself inside a cell. */
  readonly isNested: boolean
}

export const runWithNetwork = async (
  { pins, authorities, secrets, environment, isNested }: NetworkOrder,
  boundary: Boundary,
  call: NetworkCall,
  run: (granted: GrantedNetwork) => Promise<CallResult>,
): Promise<CallResult> => {
  const networks = createCallNetworks(
    () =>
      openNetwork({
        authorities,
        isNested: () => isNested,
        secrets: { sources: secrets, host: secretHostOf(environment) },
      }),
    pins,
  )
  try {
    return await networks.during(boundary, call, (input) =>
      run({ ...networks.settingsFor(boundary), ...input, passed: withoutSecrets(environment, secrets.values()) }),
    )
  } finally {
    networks.close()
  }
}
