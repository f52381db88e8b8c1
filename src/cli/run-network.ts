// Granted hosts of one `cordon run`. Loaded only where there are such.
import type { Boundary } from '../policy/index.js'
import { createCallNetworks, openNetwork } from '../runtime/network/index.js'
import type { NetworkCall } from '../runtime/network/index.js'
import type { CallNetwork, CallResult, CellSettings } from '../sandbox/index.js'

import type { EgressOrder } from './egress-order.js'

export interface GrantedNetwork extends Pick<CellSettings, 'proxy'> {
  readonly network?: CallNetwork
}

export const runWithNetwork = async ({ pins, authorities }: EgressOrder, boundary: Boundary, call: Pick<NetworkCall, 'callId' | 'record'>, run: (granted: GrantedNetwork) => Promise<CallResult>): Promise<CallResult> => {
  const networks = createCallNetworks(() => openNetwork({ authorities }), pins)
  try {
    // Whoever typed the command has approved of it, and the log has it.
    return await networks.during(boundary, { ...call, writeApproval: 'recorded' }, (input) => run({ ...networks.settingsFor(boundary), ...input }))
  } finally {
    networks.close()
  }
}
