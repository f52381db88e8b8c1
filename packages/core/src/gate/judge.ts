// The second half of a decision: rules, hooks, the mode and perhaps the classifier judge a call that has passed the
// argument gate.
import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'
import { mappingOf, oneOf, rootNode, nodeText } from '../policy/index.js'

import type { RuleFacts } from './call-facts.js'
import type { DecisionSource } from './record/permission-decision.js'
import { withStep } from './draft.js'
import type { Draft } from './draft.js'
import { lifetimeOf } from './gate-settings.js'
import type { GateSettings } from './gate-settings.js'
import { thrownMessage } from './thrown-message.js'
import { answerOfMode } from './rules/modes.js'
import type { Mode, ModeAnswer, ModeQuestion } from './rules/modes.js'
import { strictest } from './rules/rule.js'
import type { Effect, Rule } from './rules/rule.js'
import type { RuleIndex } from './rules/rule-index.js'
import type { DestructiveFacts, GateTool } from './tool.js'
import type { RuleSet } from './rules/load-rules.js'

/** The answers of hooks over all rounds. An ask still counts after a later change of the input. */
export interface HookStance {
  readonly effect: 'ask' | 'allow' | 'none'
  readonly hooks: readonly string[]
  readonly reason: string
}

export type Verdict =
  | { readonly kind: 'refuse'; readonly source: DecisionSource; readonly denial: CordonError }
  | {
      readonly kind: 'run'
      readonly as: 'allow' | 'sandboxed'
      readonly source: DecisionSource
      readonly reason: string
    }
  /** `isFirm`: a rule, a hook or a required approval asks. Otherwise only the mode does. */
  | {
      readonly kind: 'ask' | 'unavailable'
      readonly source: DecisionSource
      readonly reason: string
      readonly isFirm: boolean
    }

export const judge = async (
  given: Draft,
  tool: GateTool,
  facts: RuleFacts,
  stance: HookStance,
  index: RuleIndex,
  settings: GateSettings,
): Promise<{ readonly draft: Draft; readonly verdict: Verdict }> => {
  const rules = index.judge(facts)
  const destructive = destructiveFacts(tool, facts, [...rules.deciding, ...rules.overruled])
  const found = withStep(
    given,
    'rules',
    rules.effect === 'unmatched' ? 'no rule speaks of it' : `${rules.effect}: ${rules.deciding[0]?.id ?? ''}`,
    { rules, destructive },
  )
  const [first] = rules.deciding
  if (rules.effect === 'deny' && first !== undefined) {
    const denial = fail('rule-denied', { rule: first.id, because: first.because })
    return { draft: found, verdict: { kind: 'refuse', source: 'rule', denial } }
  }

  const question = questionOf(found, tool, stance)
  const answer = answerOfMode(settings.mode, question)
  const draft = withStep(
    found,
    'mode',
    `${settings.mode}: ${answer.kind === 'run' ? answer.as : answer.kind}, because ${answer.why}`,
  )
  if (answer.kind === 'classify') return { draft, verdict: await classify(draft, tool, answer.why, settings, question) }
  return { draft, verdict: verdictOf(answer, found, question, stance, settings) }
}

const questionOf = ({ rules, call, destructive }: Draft, tool: GateTool, stance: HookStance): ModeQuestion => {
  const question = usualQuestion(tool, strictest([rules, stance]), { isDestructive: destructive !== undefined })
  if (call.widening === undefined) return question
  // No rule and no classifier lets a tool run without its sandbox: a person does.
  const effect = call.widening.after === 'unconfined' ? 'ask' : question.effect
  return { ...question, effect, obligation: 'widening' }
}

const usualQuestion = (
  tool: GateTool,
  effect: ModeQuestion['effect'],
  { isDestructive }: { readonly isDestructive: boolean },
): ModeQuestion => ({
  effect,
  obligation: tool.needsApproval ? 'approval' : 'none',
  isLowRisk: tool.boundary.risk.level === 'low' && !isDestructive,
  isReadOnly: tool.isReadOnly && !isDestructive,
  isSandboxed: tool.runs === 'sandboxed' && tool.hasPolicy,
})

const verdictOf = (
  answer: Exclude<ModeAnswer, { readonly kind: 'classify' }>,
  draft: Draft,
  question: ModeQuestion,
  stance: HookStance,
  settings: GateSettings,
): Verdict => {
  switch (answer.kind) {
    case 'deny':
      return { kind: 'refuse', source: 'mode', denial: fail('mode-denies', { mode: settings.mode, why: answer.why }) }
    case 'run':
      return { kind: 'run', as: answer.as, ...whoAllowed(answer.why, draft, question, stance, settings) }
    case 'ask':
    case 'unavailable':
      return { kind: answer.kind, ...whoAsks(answer.why, draft, question, stance) }
  }
}

const whoAllowed = (
  why: string,
  { rules: { effect, deciding } }: Draft,
  question: ModeQuestion,
  stance: HookStance,
  { mode }: GateSettings,
): { readonly source: DecisionSource; readonly reason: string } => {
  const [rule] = deciding
  if (question.effect === 'allow' && effect === 'allow' && rule !== undefined)
    return { source: 'rule', reason: `allowed by the rule ${rule.id}: ${rule.because}` }
  if (question.effect === 'allow') return { source: 'hook', reason: `allowed by ${named(stance)}` }
  return { source: 'mode', reason: `in the mode ${mode} it runs: ${why}` }
}

const whoAsks = (
  why: string,
  { rules: { effect, deciding, untrusted }, call }: Draft,
  { obligation }: ModeQuestion,
  stance: HookStance,
): { readonly source: DecisionSource; readonly reason: string; readonly isFirm: boolean } => {
  const [rule] = deciding
  if (effect === 'ask' && rule !== undefined)
    return { source: 'rule', reason: `the rule ${rule.id} asks: ${rule.because}`, isFirm: true }
  if (stance.effect === 'ask') return { source: 'hook', reason: `${named(stance)} asks`, isFirm: true }
  if (obligation !== 'none')
    return {
      source: 'policy',
      reason: call.widening === undefined ? why : `${why}: ${call.widening.reason}`,
      isFirm: true,
    }
  return { source: 'mode', reason: `${why}${disregarded(untrusted)}`, isFirm: false }
}

/** Names an allow of an untrusted project, and how to trust the project. */
const disregarded = ([rule]: readonly Rule[]): string => {
  if (rule === undefined) return ''
  const folder = /^(?<folder>.*)\/\.cordon\//.exec(rule.place)?.groups?.['folder'] ?? 'ITS FOLDER'
  return (
    ` (the allow in ${rule.place} does not count: the project is not trusted; to trust it: trusted_projects: [ ` +
    `${folder === '' ? '/' : folder} ] in ~/.config/cordon/rules.yaml)`
  )
}

const named = ({ hooks, reason }: HookStance): string =>
  `the hook ${hooks.join(', ')}${reason === '' ? '' : ` (${reason})`}`

/** From the tool itself, or from a rule that knows more about the call. */
const destructiveFacts = (
  tool: GateTool,
  { input }: RuleFacts,
  rules: readonly Rule[],
): DestructiveFacts | undefined => {
  const byRule = rules.find(({ destructive }) => destructive !== undefined)?.destructive
  if (typeof tool.destructive !== 'function') return tool.destructive ?? byRule
  try {
    return tool.destructive(input) ?? byRule
  } catch {
    return { impactScope: 'unknown: the tool could not say', rollbackAdvice: 'none known' }
  }
}

/** If the classifier fails, a person is asked. */
const classify = async (
  { input, destructive }: Draft,
  tool: GateTool,
  why: string,
  settings: GateSettings,
  { obligation }: ModeQuestion,
): Promise<Verdict> => {
  const isFirm = obligation !== 'none'
  const ask = (reason: string): Verdict => ({ kind: 'ask', source: 'classifier', reason, isFirm })
  const { classify: classifier, wait } = settings
  if (classifier === undefined) return ask(`${why}, and there is no classifier`)
  const limit = lifetimeOf(settings, 'classifier')
  const clock = wait(limit)
  try {
    const isDestructive = destructive !== undefined
    const request = { tool: tool.name, input, risk: tool.boundary.risk, isDestructive, reason: why }
    const answered = await Promise.race([
      (async () => ({ value: await classifier(request) }))(),
      clock.over.then(() => undefined),
    ])
    if (answered === undefined) return ask(`the classifier gave no answer within ${limit} ms`)
    const node = rootNode(answered.value, () => 'the classifier', 'its answer')
    const given = mappingOf(node, ['decision', 'reason'])
    const decision = oneOf(given.decision ?? node, ['allow', 'deny', 'ask'] as const)
    const reason = given.reason === undefined ? 'no reason given' : nodeText(given.reason, 'a text')
    if (decision === 'deny')
      return { kind: 'refuse', source: 'classifier', denial: fail('classifier-denied', { reason }) }
    return decision === 'ask'
      ? ask(reason)
      : { kind: 'run', as: 'allow', source: 'classifier', reason: `allowed by the classifier: ${reason}` }
  } catch (error) {
    return ask(`the classifier failed: ${thrownMessage(error)}`)
  } finally {
    clock.cancel()
  }
}

/** What a call of the tool gets, if no hook and no rule about arguments concerns it. */
export const usualOutcome = (tool: GateTool, sets: readonly RuleSet[], mode: Mode): Effect => {
  const rules = sets.flatMap((set) => set.rules.filter((rule) => isAboutTool(rule, tool.name)))
  const effect = strictest(rules)
  if (effect === 'deny') return 'deny'
  const isDestructive = tool.destructive !== undefined || rules.some(({ destructive }) => destructive !== undefined)
  switch (answerOfMode(mode, usualQuestion(tool, effect, { isDestructive })).kind) {
    case 'run':
      return 'allow'
    case 'ask':
    // The classifier may also allow it or deny it.
    case 'classify':
      return 'ask'
    case 'deny':
    case 'unavailable':
      return 'deny'
  }
}

const isAboutTool = ({ tools, arguments: given, paths, hosts, commands }: Rule, name: string): boolean =>
  [given, paths, hosts, commands].every((conditions) => conditions.length === 0) &&
  (tools.length === 0 || tools.some((pattern) => pattern.matches(name)))
