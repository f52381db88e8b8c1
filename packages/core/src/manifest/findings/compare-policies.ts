// Compares policies of manifests by meaning. Most tools of two manifests are equal or changed in the same way, so each
// policy is read once and each pair is compared once.
import { CordonError, fail } from '../../errors/index.js'
import { beyond, canonicalPolicy, getOrAdd, parsePolicy } from '../../policy/index.js'
import type { Places, ToolPolicy, Witness } from '../../policy/index.js'

import { cellKindOf } from '../manifest.js'
import type { ManifestKind } from '../manifest.js'

type PolicyValue = Readonly<Record<string, unknown>>

export interface ReadPolicy {
  readonly policy: ToolPolicy
  /** One text per meaning. */
  readonly text: string
}

/** A policy, and the kind of tool that has it. */
export interface HeldPolicy {
  readonly kind: ManifestKind
  readonly policy: PolicyValue
}

export interface PolicyReader {
  readonly read: (value: PolicyValue) => ReadPolicy
  /** A witness for each thing that `after` allows and `before` does not. */
  readonly beyond: (after: HeldPolicy, before: HeldPolicy) => readonly Witness[]
}

/** `places`: of workspace and home, if they are known. */
export const createPolicyReader = (places: Partial<Places> = {}): PolicyReader => {
  const policies = new Map<string, ReadPolicy>()
  const pairs = new Map<string, readonly Witness[]>()
  const read = (value: PolicyValue): ReadPolicy => getOrAdd(policies, JSON.stringify(value), () => readPolicy(value))
  return {
    read,
    beyond: (after, before) => {
      // Most tools did not change, and their policies are not even read.
      if (after.kind === before.kind && JSON.stringify(after.policy) === JSON.stringify(before.policy)) return []
      const [present, past] = [read(after.policy), read(before.policy)]
      if (after.kind === before.kind && present.text === past.text) return []
      return getOrAdd(pairs, `${after.kind} ${before.kind} ${present.text} ${past.text}`, () =>
        beyond(present.policy, past.policy, {
          ...places,
          kind: cellKindOf(after.kind),
          boundKind: cellKindOf(before.kind),
        }),
      )
    },
  }
}

const readPolicy = (value: PolicyValue): ReadPolicy => {
  try {
    const policy = parsePolicy(value, 'a policy of the manifest')
    return { policy, text: canonicalPolicy(policy) }
  } catch (error) {
    throw error instanceof CordonError ? fail('manifest-invalid', { problem: error.message }, error) : error
  }
}

/** A policy that grants nothing, for a tool that did not exist. */
export const NOTHING: PolicyValue = { filesystem: 'none', network: 'none', environment: 'none', exec: 'none' }
