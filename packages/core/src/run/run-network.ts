// The network of one `cordon run`. Loaded only if hosts are granted.
import type { SecretSource } from '../egress/index.js'
import type { Boundary } from '../policy/index.js'
import { createCallNetworks, openNetwork, secretHostOf, withoutSecrets } from '../runtime/network/index.js'
import type { NetworkCall } from '../runtime/network/index.js'
import type { CallNetwork, CallResult, CellSettings } from '../sandbox/index.js'

import type { Environment } from '../line/arguments.js'
import type { EgressOrder } from '../settings/egress-order.js'
import { loadProduct } from '../products/installed-products.js'

export interface GrantedNetwork extends Pick<CellSettings, 'proxy'> {
  readonly network?: CallNetwork
  /** Variables that the command may get. */
  readonly passed: Environment
}

interface NetworkOrder extends EgressOrder {
  readonly secrets: ReadonlyMap<string, SecretSource>
  readonly environment: Environment
  /** Whether this process is itself inside a cell. */
  readonly isNested: boolean
}

export const runWithNetwork = async (
  { pins, authorities, secrets, environment, isNested }: NetworkOrder,
  boundary: Boundary,
  call: NetworkCall,
  run: (granted: GrantedNetwork) => Promise<CallResult>,
): Promise<CallResult> => {
  const logins = [...secrets.values()].some(({ kind }) => kind === 'login')
    ? await (await loadProduct('mcp', 'a secret from `login:`')).logins?.(environment, { pins, authorities })
    : undefined
  const networks = createCallNetworks(
    () =>
      openNetwork({
        authorities,
        isNested: () => isNested,
        secrets: { sources: secrets, host: { ...secretHostOf(environment), logins } },
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
