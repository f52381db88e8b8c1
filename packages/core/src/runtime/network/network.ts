// Joins cells and egress: passes the connections of a call from the sandbox to the proxy.
import { createEgress, createSecretStore } from '../../egress/index.js'
import type { CallRights, ConnectionEvent, EgressViolation, Resolve } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import type { Boundary } from '../../policy/index.js'
import { MOST_VIOLATIONS_TOLD } from '../../sandbox/index.js'
import type { CallNetwork, ProcessResult } from '../../sandbox/index.js'

import { NO_SECRETS, refuseExposed } from './secret-settings.js'
import type { SecretSettings } from './secret-settings.js'

export interface NetworkSettings {
  /** Further trusted certificate authorities of servers, in PEM. */
  readonly authorities: readonly string[]
  readonly resolve?: Resolve
  /** Whether this process runs in a cell itself, asked for each connection. */
  readonly isNested?: () => boolean
  /** Default: no credentials. */
  readonly secrets?: SecretSettings
}

/** One call and its rights. */
export interface Admission extends Pick<CallRights, 'callId' | 'writeApproval' | 'pins'> {
  readonly boundary: Boundary
  /** Records its connections. If it fails, the connection is closed. */
  readonly record: (event: ConnectionEvent) => void | Promise<void>
}

export interface AdmittedCall {
  readonly network: CallNetwork
  /** What the proxy refused. */
  readonly violations: () => readonly EgressViolation[]
  /** Resolves when all connections are recorded. */
  readonly end: () => Promise<void>
}

/** The network of one runtime. */
export interface RuntimeNetwork {
  /** The certificate that cells have to trust, in PEM. */
  readonly authority: string
  readonly admit: (admission: Admission) => Promise<AdmittedCall>
  readonly close: () => void
}

export const openNetwork = ({
  authorities,
  resolve,
  isNested = () => false,
  secrets = NO_SECRETS,
}: NetworkSettings): RuntimeNetwork => {
  /** Each violation once: a tool may try the same thing a thousand times. */
  const present = new Map<
    string,
    { readonly record: Admission['record']; readonly violations: Map<string, EgressViolation> }
  >()
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
            // mayConnect() also records a refusal.
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

/** Adds the proxy's violations to those of the cell. */
export const withViolations = <Result extends ProcessResult>(
  result: Result,
  more: readonly EgressViolation[],
): Result => {
  if (more.length === 0) return result
  const violations = [...result.violations, ...more]
  return {
    ...result,
    violations,
    profile: { ...result.profile, violation_refs: violations.map((_, at) => `violations/${at}`) },
  }
}
