// A permit that leaves the process, sealed by a key.
import { bug } from '../../errors/index.js'

import { isMapping } from '../input/canonical-json.js'
import type { JsonValue } from '../input/json-value.js'
import { mintPermit, termsOf } from './permit.js'
import type { Permit, PermitTerms } from './permit.js'
import { openText, sealText } from './sealed-text.js'

const FORM = 'cordon-permit-1'

export const sealPermit = (permit: Permit, key: Uint8Array): string => sealText(FORM, { ...(termsOf(permit) ?? bug('a permit without terms')) }, key)

/** Permits for a single use that were opened before, by their ids. The caller keeps it for as long as permits live. */
export interface SpentPermits {
  /** False when it was there already. */
  readonly add: (permitId: string, expiresAt: number) => boolean
}

export const createSpentPermits = (now: () => number): SpentPermits => {
  const spent = new Map<string, number>()
  return {
    add: (permitId, expiresAt) => {
      const time = now()
      // What has expired is refused for that; it need not be remembered.
      for (const [id, expiry] of spent) if (expiry <= time) spent.delete(id)
      if (spent.has(permitId)) return false
      spent.set(permitId, expiresAt)
      return true
    },
  }
}

export type OpenedPermit = { readonly kind: 'permit'; readonly permit: Permit } | { readonly kind: 'refused'; readonly problem: 'malformed' | 'forged' | 'expired' | 'spent' }

export const openPermit = (text: string, { key, spent, now }: { readonly key: Uint8Array; readonly spent: SpentPermits; readonly now: number }): OpenedPermit => {
  const opened = openText(FORM, text, key)
  if (opened.kind === 'refused') return opened
  const terms = parseTerms(opened.value)
  if (terms === undefined) return { kind: 'refused', problem: 'malformed' }
  if (!(now < terms.expiresAt)) return { kind: 'refused', problem: 'expired' }
  if (terms.isSingleUse && !spent.add(terms.permitId, terms.expiresAt)) return { kind: 'refused', problem: 'spent' }
  return { kind: 'permit', permit: mintPermit(terms) }
}

const TEXTS = ['permitId', 'callId', 'decisionId', 'tool', 'argumentsHash', 'policyHash'] as const

const parseTerms = (value: JsonValue): PermitTerms | undefined => {
  if (!isMapping(value)) return undefined
  const texts = TEXTS.map((key) => value[key])
  const { expiresAt, isSingleUse } = value
  if (!texts.every((each) => typeof each === 'string') || typeof expiresAt !== 'number' || typeof isSingleUse !== 'boolean') return undefined
  const [permitId = '', callId = '', decisionId = '', tool = '', argumentsHash = '', policyHash = ''] = texts.filter((each) => typeof each === 'string')
  return { permitId, callId, decisionId, tool, argumentsHash, policyHash, expiresAt, isSingleUse }
}
