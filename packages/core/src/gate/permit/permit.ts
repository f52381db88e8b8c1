import { fail } from '../../errors/index.js'

import { hashOf } from '../input/canonical-json.js'
import { takeSnapshot } from '../input/json-value.js'
import type { JsonValue } from '../input/json-value.js'

export interface PermitTerms {
  readonly permitId: string
  readonly callId: string
  readonly decisionId: string
  readonly tool: string
  readonly argumentsHash: string
  readonly policyHash: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

// Anyone with a permit can reach its class (`permit.constructor`), but only this module has the key that the class
// needs.
const KEY = Symbol('only the gate mints permits')

class MintedPermit {
  readonly #terms: PermitTerms
  #isSpent = false

  constructor(key: unknown, terms: PermitTerms) {
    if (key !== KEY) throw new TypeError('only the gate mints permits')
    this.#terms = Object.freeze({ ...terms })
    Object.freeze(this)
  }

  get terms(): PermitTerms {
    return this.#terms
  }

  /** Checks the private field, which neither a look-alike nor a changed prototype has. */
  static termsOf(value: unknown): PermitTerms | undefined {
    return typeof value === 'object' && value !== null && #terms in value ? value.#terms : undefined
  }

  /** False when it was spent before. */
  static spend(permit: MintedPermit): boolean {
    const isFirst = !permit.#isSpent
    permit.#isSpent = true
    return isFirst
  }
}
Object.freeze(MintedPermit)
Object.freeze(MintedPermit.prototype)

/** Proof that one call may run once, with this tool, these arguments and this policy, until it expires. */
export type Permit = MintedPermit

/** For the gate only: the index of this room does not export it. */
export const mintPermit = (terms: PermitTerms): Permit => new MintedPermit(KEY, terms)

export interface PermitUse {
  readonly tool: string
  /** The arguments of the run. They are hashed here, because a hash of the caller could be wrong. */
  readonly arguments: unknown
  readonly policyHash: string
  readonly now: number
}

const PROBLEMS = {
  'not-a-permit': 'the gate did not mint it',
  'other-tool': 'it is for another tool',
  'other-arguments': 'it is for other arguments',
  'other-policy': 'it is for another policy',
  'expired': 'it has expired',
  'spent': 'it was for one call, and is used',
} as const
export type PermitProblem = keyof typeof PROBLEMS

export type CheckedPermit =
  | { readonly kind: 'valid'; readonly terms: PermitTerms; readonly arguments: JsonValue }
  | { readonly kind: 'refused'; readonly problem: PermitProblem }

/**
 * Whether a permit is for this run. The check spends it. Run with the `arguments` of the answer: they are a frozen copy
 * of the checked ones.
 */
export const checkPermit = (permit: unknown, use: PermitUse): CheckedPermit => {
  const terms = MintedPermit.termsOf(permit)
  if (terms === undefined) return { kind: 'refused', problem: 'not-a-permit' }
  if (terms.tool !== use.tool) return { kind: 'refused', problem: 'other-tool' }
  if (terms.policyHash !== use.policyHash) return { kind: 'refused', problem: 'other-policy' }
  // This form also refuses if the clock is not a number.
  if (!(use.now < terms.expiresAt)) return { kind: 'refused', problem: 'expired' }
  const snapshot = takeSnapshot(use.arguments)
  if (snapshot.kind === 'problem' || hashOf(snapshot.value) !== terms.argumentsHash)
    return { kind: 'refused', problem: 'other-arguments' }
  if (!MintedPermit.spend(permit as MintedPermit)) return { kind: 'refused', problem: 'spent' }
  return { kind: 'valid', terms, arguments: snapshot.value }
}

/** The arguments to run with, or an error. */
export const requirePermit = (permit: unknown, use: PermitUse): JsonValue => {
  const checked = checkPermit(permit, use)
  if (checked.kind === 'refused') throw fail('permit-refused', { problem: PROBLEMS[checked.problem] })
  return checked.arguments
}
