// Joins cells and egress: the sandbox brings the connections of a call, the proxy takes them.
import { createEgress, createSecretStore } from '../../egress/index.js'
import type { CallRights, ConnectionEvent, EgressViolation, Resolve } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import type { Boundary } from '../../policy/index.js'
import { MOST_VIOLATIONS_TOLD } from '../../sandbox/index.js'
import type { CallNetwork, CallResult } from '../../sandbox/index.js'

import { NO_SECRETS, refuseExposed } from './secret-settings.js'
import type { SecretSettings } from './secret-settings.js'

export interface NetworkSettings {
  /** Certificates of servers' authorities that are trusted besides the usual ones, in PEM. */
  readonly authorities: readonly string[]
  readonly resolve?: Resolve
  /** Whether this process is itself inside a cell, asked when a connection is made; left out, it is not. */
  readonly isNested?: () => boolean
  /** Where the values of credentials come from; left out, there are none. */
  readonly secrets?: SecretSettings
}

/** What one call brings along. */
export interface Admission extends Pick<CallRights, 'callId' | 'writeApproval' | 'pins'> {
  /** With its credentials. */
  readonly boundary: Boundary
  /** What became of its connections. What cannot be recorded does not happen. */
  readonly record: (event: ConnectionEvent) => void | Promise<void>
}

export interface AdmittedCall {
  readonly network: CallNetwork
  /** What the proxy refused so far. */
  readonly violations: () => readonly EgressViolation[]
  /** Answers when what became of its connections is recorded. */
  readonly end: () => Promise<void>
}

/** The network of one runtime. */
export interface RuntimeNetwork {
  /** What cells have to trust, in PEM. */
  readonly authority: string
  readonly admit: (admission: Admission) => Promise<AdmittedCall>
  readonly close: () => void
}

interface Present {
  readonly record: Admission['record']
  /** Each once: a tool may try the same thing a thousand times. */
  readonly violations: Map<string, EgressViolation>
}

export const openNetwork = ({
  authorities,
  resolve,
  isNested = () => false,
  secrets = NO_SECRETS,
}: NetworkSettings): RuntimeNetwork => {
  const present = new Map<string, Present>()
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
      // It is reported with the other violations of the call at its end.
      if (of !== undefined && of.violations.size < MOST_VIOLATIONS_TOLD)
        of.violations.set(JSON.stringify(event.violation), event.violation)
      return undefined
    },
  })
  return {
    authority: egress.authorityCertificate,
    admit: async ({ callId, boundary, writeApproval, pins, record }) => {
      const violations = new Map<string, EgressViolation>()
      await refuseExposed(boundary, store, secrets.host)
      const call = await egress.admit({
        callId,
        network: boundary,
        writeApproval,
        credentials: boundary.credentials,
        pins,
      })
      present.set(callId, { record, violations })
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
        violations: () => [...violations.values()],
        end: async () => {
          await call.end()
          present.delete(callId)
        },
      }
    },
    close: egress.close,
  }
}

/** What the proxy refused belongs to what the call tried, like the rest. */
export const withViolations = (result: CallResult, more: readonly EgressViolation[]): CallResult => {
  if (more.length === 0) return result
  const violations = [...result.violations, ...more]
  return {
    ...result,
    violations,
    profile: { ...result.profile, violation_refs: violations.map((_, at) => `violations/${String(at)}`) },
  }
}
