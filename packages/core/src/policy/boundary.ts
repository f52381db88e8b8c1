import type { Credential, RequestScope } from './credential.js'
import type { Assessed, EnvironmentEntry, Limits, Mechanism, PresetName, Risk } from './model.js'
import type { PathPattern } from './glob/path-pattern.js'

export interface FileGrants {
  /** Grants and carve-outs (`negated`), in the order of the policy. */
  readonly read: readonly PathPattern[]
  readonly write: readonly PathPattern[]
  /** Paths of presets, which may be missing on the host. Carve-outs of `read` apply to them too. */
  readonly presetRead: readonly PathPattern[]
}

/** A policy applied to one place, with every omitted section decided. */
export interface Boundary extends FileGrants, RequestScope {
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
