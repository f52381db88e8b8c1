// A policy as people write it, for the compiler. Its names come from the lists that the parser reads by.
import type { EgressClass, Mechanism, PresetName, Risk } from '../model.js'
import type { INJECTION_KEYS } from './parse-credentials.js'
import type { LIMIT_FORMS } from './parse-limits.js'
import type { HostAction } from '../network/host-grant.js'
import type { POLICY_KEYS } from './parse-policy.js'

/** An omitted section grants nothing. */
export type PolicyInput = { readonly [Key in (typeof POLICY_KEYS)[number]]?: Sections[Key] }

interface Sections {
  /** Derived from the other sections when omitted. */
  readonly risk: Risk
  readonly filesystem: 'none' | { readonly read?: Patterns; readonly write?: Patterns }
  readonly network: 'none' | 'all' | readonly (string | HostInput)[]
  /** Derived from `network` when omitted. */
  readonly egress_class: EgressClass
  /** `NAME` passes a variable of the host, `NAME=value` sets one. */
  readonly environment: 'none' | readonly string[]
  readonly credentials: 'none' | readonly CredentialInput[]
  readonly exec: 'none' | 'all' | readonly string[]
  readonly limits: 'none' | LimitsInput
  readonly presets: 'none' | readonly PresetName[]
  /** Mechanisms without which the call does not run. */
  readonly require: 'none' | readonly Mechanism[]
}

/** Absolute, under `~`, or relative to the workspace; `**`, `*`, `?`, `{a,b}`; `!` carves out. */
type Patterns = 'none' | readonly string[]

export interface HostInput {
  readonly host: string
  readonly methods?: readonly string[]
  readonly paths?: readonly string[]
  readonly action?: HostAction
}

/** The shape of a secret, never its value. */
export interface CredentialInput {
  readonly id: string
  readonly inject: InjectionInput | readonly InjectionInput[]
  readonly placeholder?: string | { readonly name: string; readonly text?: string }
}

type InjectionKind = keyof typeof INJECTION_KEYS

type InjectionInput = {
  [Kind in InjectionKind]: {
    readonly [Key in (typeof INJECTION_KEYS)[Kind][number]]?: string
  } & (Kind extends 'header' ? { readonly as?: Kind; readonly header: string } : { readonly as: Kind }) & {
      readonly host: string | readonly string[]
    }
}[InjectionKind]

/** A size is a text such as `256M` or a number of bytes, a duration is a text such as `30s`. */
export type LimitsInput = {
  readonly [Name in keyof typeof LIMIT_FORMS]?: {
    size: string | number
    duration: string
    count: number
  }[(typeof LIMIT_FORMS)[Name]['quantity']]
}
