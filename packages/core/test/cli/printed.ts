// What the command line prints as JSON, as far as tests read it.
import type { PermissionDecision, PermissionState } from '../../src/gate/index.js'
import type { SandboxProfile, Violation } from '../../src/sandbox/index.js'

/** `cordon run --facts`, `cordon run --json` */
export interface Facts {
  readonly permission_decision: PermissionDecision
  readonly permission_state: PermissionState
  readonly sandbox_profile: SandboxProfile | null
  readonly violations: readonly Violation[]
  readonly result: {
    readonly exit_status: number
    readonly error: { readonly code: string; readonly message: string; readonly fix: string | null } | null
  }
}

interface Tried {
  readonly held: boolean
  readonly problem: string | null
}
interface TriedForm extends Tried {
  readonly enforced: Readonly<Record<string, readonly string[]>> | null
}

/** `cordon doctor --json` */
export interface Diagnosis {
  readonly holds: boolean
  readonly host: { readonly kernel: string; readonly container: string | null }
  readonly form: string | null
  readonly why: string
  readonly forms: Readonly<Record<'namespaces' | 'landlock' | 'mounts', TriedForm>> | null
  readonly walls: readonly (Tried & { readonly backend: string })[]
  readonly mechanisms: Readonly<Record<string, unknown>> | null
  readonly engine: { readonly found: unknown }
  readonly findings: readonly { readonly what: string; readonly because: string; readonly fix: string }[]
}
