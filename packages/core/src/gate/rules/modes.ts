// Modes: how to treat a call that no rule and no hook decides, or that would ask.
import type { Effect } from './rule.js'

export const MODES = ['default', 'untrusted', 'on_request', 'on_failure', 'never', 'plan', 'bypass', 'auto'] as const
export type Mode = (typeof MODES)[number]

export interface ModeQuestion {
  /** Of rules and hooks together. */
  readonly effect: Effect | 'unmatched'
  /** Why a person must approve, whatever the rules say: an egress class of `write`, or a wider policy. */
  readonly obligation: 'none' | 'approval' | 'widening'
  readonly isLowRisk: boolean
  readonly isReadOnly: boolean
  /** A cell confines the tool to its policy, so it needs no trust. */
  readonly isSandboxed: boolean
}

export type ModeAnswer =
  | { readonly kind: 'run'; readonly as: 'allow' | 'sandboxed'; readonly why: string }
  /** `unavailable`: a person would be asked, but not in this mode. */
  | { readonly kind: 'ask' | 'unavailable' | 'deny'; readonly why: string }
  | { readonly kind: 'classify'; readonly why: string }

/** For every effect but deny, which no mode changes. */
export const answerOfMode = (mode: Mode, question: ModeQuestion): ModeAnswer => {
  const { effect, obligation } = question
  if (mode === 'plan') return answerOfPlan(question)
  if (mode === 'bypass') return answerOfBypass(question)
  if (obligation !== 'none') return wouldAsk(mode, question, OBLIGATIONS[obligation])
  switch (effect) {
    case 'deny':
      return { kind: 'deny', why: 'it is denied' }
    case 'ask':
      return wouldAsk(mode, question, 'it has to be asked about')
    case 'allow':
      return { kind: 'run', as: 'allow', why: 'it is allowed' }
    case 'unmatched':
      return unmatched(mode, question)
  }
}

const OBLIGATIONS = {
  approval: 'what writes to the network always needs approval',
  widening: 'it asks for more than its policy grants',
} as const

const answerOfPlan = ({ effect, obligation, isReadOnly }: ModeQuestion): ModeAnswer => {
  if (!isReadOnly) return { kind: 'deny', why: 'it is not read-only' }
  if (effect === 'ask' || obligation !== 'none') return { kind: 'deny', why: 'it would have to be asked about' }
  return { kind: 'run', as: 'allow', why: 'it is read-only' }
}

/** It asks nobody, so nobody can grant more than the policy does. */
const answerOfBypass = ({ effect, obligation, isSandboxed }: ModeQuestion): ModeAnswer =>
  obligation === 'widening'
    ? { kind: 'unavailable', why: OBLIGATIONS.widening }
    : {
        kind: 'run',
        as: effect === 'allow' || !isSandboxed ? 'allow' : 'sandboxed',
        why: 'the mode bypass asks nobody',
      }

const unmatched = (mode: Exclude<Mode, 'plan' | 'bypass'>, question: ModeQuestion): ModeAnswer => {
  const { isLowRisk, isSandboxed } = question
  switch (mode) {
    case 'default':
      return isLowRisk
        ? { kind: 'run', as: 'allow', why: 'its risk is low' }
        : { kind: 'ask', why: 'its risk is not low' }
    case 'untrusted':
      return { kind: 'ask', why: 'no rule allows it' }
    case 'auto':
      return { kind: 'classify', why: 'no rule speaks of it' }
    case 'on_request':
    case 'on_failure':
    case 'never':
      if (isSandboxed) return { kind: 'run', as: 'sandboxed', why: 'its sandbox holds it' }
      // Nothing confines it, so the mode has no reason to run it.
      return isLowRisk
        ? { kind: 'run', as: 'allow', why: 'its risk is low' }
        : wouldAsk(mode, { ...question, effect: 'ask' }, 'nothing confines it to a policy of its own')
  }
}

const wouldAsk = (
  mode: Exclude<Mode, 'plan' | 'bypass'>,
  { effect, obligation, isSandboxed }: ModeQuestion,
  why: string,
): ModeAnswer => {
  switch (mode) {
    case 'never':
      return { kind: 'unavailable', why }
    case 'on_request':
      return obligation === 'none' && isSandboxed
        ? { kind: 'run', as: 'sandboxed', why: 'in this mode only a request to widen is asked about' }
        : { kind: 'ask', why }
    case 'auto':
      // A rule that says "ask" means a person.
      return effect === 'ask' ? { kind: 'ask', why } : { kind: 'classify', why }
    case 'default':
    case 'untrusted':
    case 'on_failure':
      return { kind: 'ask', why }
  }
}
