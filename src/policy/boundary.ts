import type { Credential } from './credential.js'
import type { HostGrant } from './network/host-grant.js'
import type { Assessed, EgressClass, EnvironmentEntry, Limits, Mechanism, PresetName, Risk } from './model.js'
import type { PathPattern } from './glob/path-pattern.js'

/** A policy applied to one place: everything decided, nothing unspecified, ready to be enforced. */
export interface Boundary {
  /** Grants and carve-outs (`negated`), in the order of the policy. */
  readonly read: readonly PathPattern[]
  readonly write: readonly PathPattern[]
  /** What presets let the tool read where it exists; carve-outs of `read` apply to it too. */
  readonly presetRead: readonly PathPattern[]
  readonly network:
    | { readonly kind: 'none' }
    | { readonly kind: 'all' }
    | { readonly kind: 'hosts'; readonly entries: readonly HostGrant[] }
  readonly egressClass: Assessed<EgressClass>
  readonly environment: readonly EnvironmentEntry[]
  readonly credentials: readonly Credential[]
  /** Programs are absolute paths, or bare names that are looked up when the cell starts. */
  readonly exec:
    | { readonly kind: 'none' }
    | { readonly kind: 'all' }
    | { readonly kind: 'list'; readonly programs: readonly string[] }
  readonly limits: Limits
  readonly presets: readonly PresetName[]
  readonly require: readonly Mechanism[]
  readonly risk: Assessed<Risk>
}
