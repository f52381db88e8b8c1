import { CordonError, fail } from '../../errors/index.js'
import type { Boundary, IpAddress } from '../../policy/index.js'
import { interrupted, resultOfInterrupted } from '../../sandbox/index.js'
import type { CallNetwork, CallResult, CellSettings } from '../../sandbox/index.js'

import { withViolations } from './network.js'
import type { Admission, AdmittedCall, RuntimeNetwork } from './network.js'

export type NetworkCall = Pick<Admission, 'callId' | 'writeApproval' | 'record'>

/** Opens the network for calls with granted hosts, for as long as each runs. */
export interface CallNetworks {
  /** Settings for cells with this boundary. */
  readonly settingsFor: (boundary: Boundary) => Pick<CellSettings, 'proxy'>
  readonly during: (
    boundary: Boundary,
    call: NetworkCall,
    run: (input: { readonly network?: CallNetwork }) => Promise<CallResult>,
  ) => Promise<CallResult>
  readonly close: () => void
}

export const createCallNetworks = (
  open: () => RuntimeNetwork,
  pins: ReadonlyMap<string, readonly IpAddress[]>,
): CallNetworks => {
  let opened: RuntimeNetwork | undefined
  const network = () => (opened ??= open())
  return {
    settingsFor: (boundary) => (boundary.network.kind === 'hosts' ? { proxy: { authority: network().authority } } : {}),
    during: async (boundary, call, run) => {
      if (boundary.network.kind !== 'hosts') {
        requireNoCredentials(boundary)
        requireApproval(boundary, call)
        return run({})
      }
      const admitted = await network().admit({ ...call, boundary, pins })
      const result = await ended(admitted, run)
      return withViolations(result, admitted.violations())
    },
    close: () => opened?.close(),
  }
}

/** Only the proxy can put a credential into a request. */
const requireNoCredentials = ({ credentials: [first] }: Boundary): void => {
  if (first !== undefined)
    throw fail('credential-unusable', {
      credential: first.id,
      problem: 'network names no hosts, so that nothing of this call passes the proxy',
      fix: 'name the hosts that the tool needs in network',
    })
}

/** With `network: all` there is no proxy that could limit a call without an approval to reading. */
const requireApproval = ({ network }: Boundary, { writeApproval }: NetworkCall): void => {
  if (network.kind === 'all' && writeApproval === 'none') throw fail('network-unapproved', {})
}

/** The connections are recorded before the caller gets the result. */
const ended = async (
  admitted: AdmittedCall,
  run: (input: { readonly network: CallNetwork }) => Promise<CallResult>,
): Promise<CallResult> => {
  try {
    return await run({ network: admitted.network })
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    const result = resultOfInterrupted(error)
    throw result === undefined ? error : interrupted(error, withViolations(result, admitted.violations()))
  } finally {
    await admitted.end()
  }
}
