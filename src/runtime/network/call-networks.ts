import { CordonError, fail } from '../../errors/index.js'
import type { Boundary, IpAddress } from '../../policy/index.js'
import { interrupted, resultOfInterrupted } from '../../sandbox/index.js'
import type { CallNetwork, CallResult, CellSettings } from '../../sandbox/index.js'

import { withViolations } from './network.js'
import type { Admission, AdmittedCall, RuntimeNetwork } from './network.js'

/** Whose network it is, whether somebody approved of writing, and where it is recorded. */
export type NetworkCall = Pick<Admission, 'callId' | 'writeApproval' | 'record'>

/** Opens the network for calls that have hosts granted, each for exactly as long as it runs. */
export interface CallNetworks {
  /** What cells with this boundary are made with. */
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

/** To put one into a request somebody has to see it: without the proxy the tool would go on as nobody, and wonder. */
const requireNoCredentials = ({ credentials: [first] }: Boundary): void => {
  if (first !== undefined)
    throw fail('credential-unusable', {
      credential: first.id,
      problem: 'network names no hosts, so that nothing of this call passes the proxy',
      fix: 'name the hosts that the tool needs in network',
    })
}

/** With a list of hosts a call that nobody approved of reads. Here nobody is on the way who could keep it to that. */
const requireApproval = ({ network }: Boundary, { writeApproval }: NetworkCall): void => {
  if (network.kind === 'all' && writeApproval === 'none') throw fail('network-unapproved', {})
}

/** What became of its connections is recorded before anybody hears how the call ended. */
const ended = async (
  admitted: AdmittedCall,
  run: (input: { readonly network: CallNetwork }) => Promise<CallResult>,
): Promise<CallResult> => {
  try {
    return await run({ network: admitted.network })
  } catch (error) {
    const result = error instanceof CordonError ? resultOfInterrupted(error) : undefined
    throw result === undefined || !(error instanceof CordonError)
      ? error
      : interrupted(error, withViolations(result, admitted.violations()))
  } finally {
    await admitted.end()
  }
}
