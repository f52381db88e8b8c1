// Joins cells and egress: the sandbox brings the connections of a call, the proxy takes them.
import { createEgress, createSecretStore } from '../../egress/index.js'
import type { CallRights, EgressEvent, EgressViolation, Resolve } from '../../egress/index.js'
import type { Boundary } from '../../policy/index.js'
import type { CallNetwork, CallResult } from '../../sandbox/index.js'

import { NO_SECRETS } from './secret-settings.js'
import type { SecretSettings } from './secret-settings.js'

export interface NetworkSettings {
  /** Certificates of servers' authorities that are trusted besides the usual ones, in PEM. */
  readonly authorities: readonly string[]
  readonly resolve?: Resolve
  /** Where the values of credentials come from; left out, there are none. */
  readonly secrets?: SecretSettings
  /** What cannot be recorded does not happen. */
  readonly record: (event: EgressEvent) => void | Promise<void>
}

/** What one call brings along. */
export interface Admission extends Pick<CallRights, 'callId' | 'writeApproval' | 'pins' | 'credentials'> {
  readonly boundary: Boundary
}

export interface AdmittedCall {
  readonly network: CallNetwork
  /** What the proxy refused so far. */
  readonly violations: () => readonly EgressViolation[]
  readonly end: () => void
}

/** The network of one runtime. */
export interface RuntimeNetwork {
  /** What cells have to trust, in PEM. */
  readonly authority: string
  readonly admit: (admission: Admission) => Promise<AdmittedCall>
  readonly close: () => void
}

const MOST_VIOLATIONS = 1_000

export const openNetwork = ({ authorities, resolve, secrets = NO_SECRETS, record }: NetworkSettings): RuntimeNetwork => {
  const refused = new Map<string, EgressViolation[]>()
  const egress = createEgress({
    secrets: createSecretStore(secrets),
    authorities,
    ...(resolve === undefined ? {} : { resolve }),
    record: (event) => {
      if (event.type !== 'sandbox.violation') return record(event)
      // It is told with the other violations of the call, when that has ended.
      const known = refused.get(event.call_id)
      if (known !== undefined && known.length < MOST_VIOLATIONS) known.push(event.violation)
      return undefined
    },
  })
  return {
    authority: egress.authorityCertificate,
    admit: async ({ callId, boundary, writeApproval, credentials, pins }) => {
      const violations: EgressViolation[] = []
      refused.set(callId, violations)
      const call = await egress.admit({ callId, network: boundary, writeApproval, credentials, pins })
      return {
        network: {
          connected: (stream, host, port) => {
            // Which also records a refusal.
            if (call.mayConnect(host, port) === undefined) call.accept(stream, host, port)
            else stream.destroy()
          },
          proxied: call.acceptProxyClient,
          proxySecret: call.proxySecret,
          variables: Object.fromEntries(call.placeholders.map(({ name, text }) => [name, text])),
        },
        violations: () => distinct(violations),
        end: () => {
          call.end()
          refused.delete(callId)
        },
      }
    },
    close: egress.close,
  }
}

/** A tool may try the same thing a thousand times. */
const distinct = (violations: readonly EgressViolation[]): readonly EgressViolation[] => [...new Map(violations.map((each) => [JSON.stringify(each), each])).values()]

/** What the proxy refused belongs to what the call tried, like the rest. */
export const withViolations = (result: CallResult, more: readonly EgressViolation[]): CallResult => {
  if (more.length === 0) return result
  const violations = [...result.violations, ...more]
  return { ...result, violations, profile: { ...result.profile, violation_refs: violations.map((_, at) => `violations/${String(at)}`) } }
}
