import type { Boundary, IpAddress } from '../../policy/index.js'
import type { CallNetwork, CallResult, CellSettings } from '../../sandbox/index.js'

import { withViolations } from './network.js'
import type { Admission, RuntimeNetwork } from './network.js'

/** Whose network it is. */
export type NetworkCall = Pick<Admission, 'callId' | 'writeApproval'> & Partial<Pick<Admission, 'credentials'>>

/** Opens the network for calls that have hosts granted, each for exactly as long as it runs. */
export interface CallNetworks {
  /** What cells with this boundary are made with. */
  readonly settingsFor: (boundary: Boundary) => Pick<CellSettings, 'proxy'>
  readonly during: (boundary: Boundary, call: NetworkCall, run: (input: { readonly network?: CallNetwork }) => Promise<CallResult>) => Promise<CallResult>
  readonly close: () => void
}

export const createCallNetworks = (open: () => RuntimeNetwork, pins: ReadonlyMap<string, readonly IpAddress[]>): CallNetworks => {
  let opened: RuntimeNetwork | undefined
  const network = () => (opened ??= open())
  return {
    settingsFor: (boundary) => (boundary.network.kind === 'hosts' ? { proxy: { authority: network().authority } } : {}),
    during: async (boundary, call, run) => {
      if (boundary.network.kind !== 'hosts') return run({})
      const admitted = await network().admit({ credentials: [], ...call, boundary, pins })
      try {
        return withViolations(await run({ network: admitted.network }), admitted.violations())
      } finally {
        admitted.end()
      }
    },
    close: () => opened?.close(),
  }
}
