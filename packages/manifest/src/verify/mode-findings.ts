import { answerOfMode, EFFECTS } from 'cordon/gate'
import type { Mode, ModeAnswer, ModeQuestion } from 'cordon/gate'

import type { Change, Finding, Owner } from 'cordon/manifest'
import { makeFinding, say, words } from 'cordon/manifest'

/** From the strictest to the mildest. */
const RANKS: Readonly<Record<ModeAnswer['kind'], number>> = { deny: 0, unavailable: 0, ask: 1, classify: 2, run: 3 }
const FORMER = ['was refused', 'needed a person', 'needed a classifier', 'ran'] as const
const NOW = ['is refused', 'can be approved', 'is left to a classifier', 'runs without a question'] as const

/** A mode is looser if any call gets a milder answer in it. Some pairs of modes are looser in both directions. */
export const modeFindings = ({ before, after }: Change<Mode>, owner: Owner): readonly Finding[] => {
  if (before === after) return []
  const ranks = QUESTIONS.map((question) => ({
    question,
    past: RANKS[answerOfMode(before, question).kind],
    present: RANKS[answerOfMode(after, question).kind],
  }))
  const worst = ranks.filter(({ past, present }) => present > past).sort((one, other) => other.present - one.present)[0]
  if (worst === undefined) return []
  const { question, past, present } = worst
  return [
    makeFinding('mode.loosened', owner, {
      sentence: say`The mode is now ${words(after)}, was ${words(before)}. ${words(callOf(question))} ${words(
        `${FORMER[past] ?? ''}, and now ${NOW[present] ?? ''}`,
      )}`,
      change: [before, after],
    }),
  ]
}

const CALLS = {
  deny: 'A call that a rule denies',
  ask: 'A call that a rule asks about',
  allow: 'A call that a rule allows',
  unmatched: 'A call that no rule matches',
} as const

const OBLIGATIONS = {
  none: '',
  approval: ' and that writes to the network',
  widening: ' and that asks for more than its policy',
} as const

const callOf = ({ effect, obligation }: ModeQuestion): string => `${CALLS[effect]}${OBLIGATIONS[obligation]}`

const YES_OR_NO = [false, true] as const

/** Every question that can be asked about a call. Plain calls come first. */
const QUESTIONS: readonly ModeQuestion[] = (['none', 'approval', 'widening'] as const).flatMap((obligation) =>
  (['unmatched', ...EFFECTS.filter((effect) => effect !== 'deny')] as const).flatMap((effect) =>
    YES_OR_NO.flatMap((isLowRisk) =>
      YES_OR_NO.flatMap((isReadOnly) =>
        YES_OR_NO.map((isSandboxed) => ({ effect, obligation, isLowRisk, isReadOnly, isSandboxed })),
      ),
    ),
  ),
)
