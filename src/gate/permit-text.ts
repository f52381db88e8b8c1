// A permit that leaves the process: its terms and a keyed hash over them. Whoever has the key can
// read it back into a permit; whoever has only the text can neither change it nor make another.
import { createHmac, timingSafeEqual } from 'node:crypto'

import { bug } from '../errors/index.js'

import { canonicalJson, isMapping } from './canonical-json.js'
import { takeSnapshot } from './json-value.js'
import { parseJson } from './parse-json.js'
import { mintPermit, termsOf } from './permit.js'
import type { Permit, PermitTerms } from './permit.js'

const VERSION = 'cordon-permit-1'
const MIN_KEY_BYTES = 32

export const sealPermit = (permit: Permit, key: Uint8Array): string => {
  const terms = termsOf(permit) ?? bug('a permit without terms')
  const payload = Buffer.from(canonicalJson({ ...terms })).toString('base64url')
  return `${VERSION}.${payload}.${signatureOf(payload, key).toString('base64url')}`
}

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
  const [version, payload = '', signature = '', ...rest] = text.split('.')
  if (version !== VERSION || rest.length > 0) return { kind: 'refused', problem: 'malformed' }
  const expected = signatureOf(payload, key)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { kind: 'refused', problem: 'forged' }
  const terms = parseTerms(Buffer.from(payload, 'base64url').toString())
  if (terms === undefined) return { kind: 'refused', problem: 'malformed' }
  if (!(now < terms.expiresAt)) return { kind: 'refused', problem: 'expired' }
  if (terms.isSingleUse && !spent.add(terms.permitId, terms.expiresAt)) return { kind: 'refused', problem: 'spent' }
  return { kind: 'permit', permit: mintPermit(terms) }
}

const signatureOf = (payload: string, key: Uint8Array): Buffer => {
  if (key.length < MIN_KEY_BYTES) throw new RangeError(`a key for permits has at least ${MIN_KEY_BYTES} bytes`)
  return createHmac('sha256', key).update(`${VERSION}.${payload}`).digest()
}

const TEXTS = ['permitId', 'callId', 'decisionId', 'tool', 'argumentsHash', 'policyHash'] as const

const parseTerms = (text: string): PermitTerms | undefined => {
  const parsed = parseJson(text)
  const snapshot = parsed.kind === 'json' ? takeSnapshot(parsed.value) : parsed
  if (snapshot.kind !== 'json' || !isMapping(snapshot.value)) return undefined
  const { value } = snapshot
  const texts = TEXTS.map((key) => value[key])
  const { expiresAt, isSingleUse } = value
  if (!texts.every((each) => typeof each === 'string') || typeof expiresAt !== 'number' || typeof isSingleUse !== 'boolean') return undefined
  const [permitId = '', callId = '', decisionId = '', tool = '', argumentsHash = '', policyHash = ''] = texts.filter((each) => typeof each === 'string')
  return { permitId, callId, decisionId, tool, argumentsHash, policyHash, expiresAt, isSingleUse }
}
