// How a call is treated that no rule and no hook has decided, or that somebody would be asked about.
import type { Effect } from './rule.js'

export const MODES = ['default', 'untrusted', 'on_request', 'on_failure', 'never', 'plan', 'bypass', 'auto'] as const
export type Mode = (typeof MODES)[number]

export interface ModeQuestion {
  /** What rules and hooks say together. */
  readonly effect: Effect | 'unmatched'
  /**
   * Somebody has to approve whatever rules say: an egress class of `write`, or a request for more than the policy
   * grants.
   */
  readonly obligation: 'none' | 'approval' | 'widening'
  readonly isLowRisk: boolean
  readonly isReadOnly: boolean
  /** A cell holds the tool, so that running it is no matter of trust. */
  readonly isSandboxed: boolean
}

export type ModeAnswer =
  | { readonly kind: 'run'; readonly as: 'allow' | 'sandboxed'; readonly why: string }
  | { readonly kind: 'ask'; readonly why: string }
  /** Somebody would be asked, and in this mode nobody ever is. */
  | { readonly kind: 'unavailable'; readonly why: string }
  | { readonly kind: 'classify'; readonly why: string }
  | { readonly kind: 'deny'; readonly why: string }

/** For every effect but deny, which no mode lifts. */
export const answerOfMode = (mode: Mode, question: ModeQuestion): ModeAnswer => {
  const { effect, obligation } = question
  if (mode === 'plan') return answerOfPlan(question)
  if (mode === 'bypass') return run(question, 'the mode bypass asks nobody')
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

const run = ({ effect, isSandboxed }: ModeQuestion, why: string): ModeAnswer => ({
  kind: 'run',
  as: effect === 'allow' || !isSandboxed ? 'allow' : 'sandboxed',
  why,
})

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
      // Nothing holds it, so the mode's reason for running it is gone.
      return isLowRisk
        ? { kind: 'run', as: 'allow', why: 'its risk is low' }
        : wouldAsk(mode, { ...question, effect: 'ask' }, 'no sandbox holds an in-process tool')
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
