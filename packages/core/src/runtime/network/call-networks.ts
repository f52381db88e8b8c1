// Joins cells and egress: passes the connections of a call from the sandbox to the proxy while the call runs.
import { createEgress, createSecretStore } from '../../egress/index.js'
import type { CallRights, ConnectionEvent, EgressViolation, Resolve } from '../../egress/index.js'
import { CordonError, fail } from '../../errors/index.js'
import type { Boundary, IpAddress } from '../../policy/index.js'
import { MOST_VIOLATIONS_TOLD, interrupted, resultOfInterrupted } from '../../sandbox/index.js'
import type { CallNetwork, CallResult, CellSettings, ProcessResult } from '../../sandbox/index.js'

import { NO_SECRETS, refuseExposed } from './secret-settings.js'
import type { SecretSettings } from './secret-settings.js'

/** One call and its rights. */
export interface NetworkCall extends Pick<CallRights, 'callId' | 'writeApproval'> {
  /** Records its connections. If it fails, the connection is closed. */
  readonly record: (event: ConnectionEvent) => void | Promise<void>
}

type Pins = ReadonlyMap<string, readonly IpAddress[]>
type RunWith<Input> = (input: Input) => Promise<CallResult>

/** Opens the network for calls with granted hosts, for as long as each runs. */
export interface CallNetworks {
  /** Settings for cells with this boundary. */
  readonly settingsFor: (boundary: Boundary) => Pick<CellSettings, 'proxy'>
  readonly during: (
    boundary: Boundary,
    call: NetworkCall,
    run: RunWith<{ readonly network?: CallNetwork }>,
  ) => Promise<CallResult>
  readonly close: () => void
}

export const createCallNetworks = (open: () => RuntimeNetwork, pins: Pins): CallNetworks => {
  let opened: RuntimeNetwork | undefined
  const network = () => (opened ??= open())
  return {
    settingsFor: (boundary) => (boundary.network.kind === 'hosts' ? { proxy: { authority: network().authority } } : {}),
    during: async (boundary, call, run) => {
      if (boundary.network.kind === 'hosts') return network().during(boundary, call, pins, run)
      refuseWithoutProxy(boundary, call)
      return run({})
    },
    close: () => opened?.close(),
  }
}

const refuseWithoutProxy = ({ network, credentials: [first] }: Boundary, { writeApproval }: NetworkCall): void => {
  // Only the proxy can put a credential into a request.
  if (first !== undefined)
    throw fail('credential-unusable', {
      credential: first.id,
      problem: 'network names no hosts, so that nothing of this call passes the proxy',
      fix: 'name the hosts that the tool needs in network',
    })
  // With `network: all` there is no proxy that could limit a call without an approval to reading.
  if (network.kind === 'all' && writeApproval === 'none') throw fail('network-unapproved', {})
}

interface NetworkSettings {
  /** Further trusted certificate authorities of servers, in PEM. */
  readonly authorities: readonly string[]
  readonly resolve?: Resolve
  /** Whether this process runs in a cell itself, asked for each connection. */
  readonly isNested?: () => boolean
  /** Default: no credentials. */
  readonly secrets?: SecretSettings
}

/** The network of one runtime. */
interface RuntimeNetwork {
  /** The certificate that cells have to trust, in PEM. */
  readonly authority: string
  readonly during: (
    boundary: Boundary,
    call: NetworkCall,
    pins: Pins,
    run: RunWith<{ readonly network: CallNetwork }>,
  ) => Promise<CallResult>
  readonly close: () => void
}

interface PresentCall extends Pick<NetworkCall, 'record'> {
  /** What the proxy refused. Each violation once: a tool may try the same thing a thousand times. */
  readonly violations: Map<string, EgressViolation>
}

export const openNetwork = ({
  authorities,
  resolve,
  isNested = () => false,
  secrets = NO_SECRETS,
}: NetworkSettings): RuntimeNetwork => {
  const present = new Map<string, PresentCall>()
  const store = createSecretStore(secrets)
  const egress = createEgress({
    secrets: store,
    authorities,
    isNested,
    ...(resolve === undefined ? {} : { resolve }),
    record: (event) => {
      const of = present.get(event.call_id)
      if (event.type !== 'sandbox.violation')
        return of === undefined ? Promise.reject(fail('egress-closed', {})) : of.record(event)
      // Reported with the call's other violations at its end.
      if (of !== undefined && of.violations.size < MOST_VIOLATIONS_TOLD)
        of.violations.set(JSON.stringify(event.violation), event.violation)
      return undefined
    },
  })
  return {
    authority: egress.authorityCertificate,
    during: async (boundary, { callId, writeApproval, record }, pins, run) => {
      await refuseExposed(boundary, store, secrets.host)
      const { credentials } = boundary
      const call = await egress.admit({ callId, network: boundary, writeApproval, credentials, pins })
      const violations: PresentCall['violations'] = new Map()
      present.set(callId, { record, violations })
      const network: CallNetwork = {
        connected: (stream, host, port) => {
          // mayConnect() also records a refusal.
          if (call.mayConnect(host, port) === undefined) call.accept(stream, host, port)
          else stream.destroy()
        },
        proxied: call.acceptProxyClient,
        proxySecret: call.proxySecret,
        variables: Object.fromEntries(call.placeholders.map(({ name, text }) => [name, text])),
      }
      let result: CallResult
      try {
        result = await run({ network })
      } catch (error) {
        if (!(error instanceof CordonError)) throw error
        const known = resultOfInterrupted(error)
        throw known === undefined ? error : interrupted(error, withViolations(known, violations))
      } finally {
        // The connections are recorded before the caller gets the result.
        await call.end()
        present.delete(callId)
      }
      return withViolations(result, violations)
    },
    close: egress.close,
  }
}

/** Adds the proxy's violations to those of the cell. */
const withViolations = <Result extends ProcessResult>(result: Result, more: PresentCall['violations']): Result => {
  if (more.size === 0) return result
  const violations = [...result.violations, ...more.values()]
  return {
    ...result,
    violations,
    profile: { ...result.profile, violation_refs: violations.map((_, at) => `violations/${at}`) },
  }
}
