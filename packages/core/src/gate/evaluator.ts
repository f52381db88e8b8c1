// The whole decision about one call, from its input to a permit, a question or a refusal.
import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'

import { createUsedApprovals, findApproval } from './approval/approval.js'
import type { ApprovalGrant } from './approval/approval.js'
import type { ArgumentGate } from './arguments/argument-gate.js'
import type { RuleFacts } from './call-facts.js'
import type { Evaluation, GateCall } from './call.js'
import type { DecisionSource, ExplainedStep } from './record/permission-decision.js'
import { evaluated, recordOf, startDraft, waysToAllow, waysToStop, withStep } from './draft.js'
import type { Conclusion, Draft } from './draft.js'
import { gateInput } from './gate-input.js'
import { lifetimeOf } from './gate-settings.js'
import type { GateSettings } from './gate-settings.js'
import type { HookEvent } from './hooks/hook.js'
import { judge } from './judge.js'
import type { HookStance, Verdict } from './judge.js'
import type { JsonValue } from './input/json-value.js'
import type { Mode } from './rules/modes.js'
import { mintPermit } from './permit/permit.js'
import type { RuleIndex } from './rules/rule-index.js'
import { hasHooks, runHooks } from './hooks/run-hooks.js'
import type { HookRunner, HookVerdict, Value } from './hooks/run-hooks.js'
import type { GateTool } from './tool.js'

// Hooks that correct each other's corrections need far fewer rounds.
const MAX_ROUNDS = 8

/** A tool and its argument gate. */
export interface GatedTool {
  readonly tool: GateTool
  readonly gate: ArgumentGate
}

/** The state of a decision while its question is open. */
export interface Progress extends GatedTool {
  readonly draft: Draft
  readonly stance: HookStance
  /** The result of a hook that runs in place of the tool. */
  readonly substitute: Value | undefined
}

/** An approval by the person who changed this input. */
interface GivenApproval {
  readonly by: string
  readonly approvalActionId: string
  /** The input before the change. */
  readonly seen: JsonValue
}

export interface Evaluator {
  readonly evaluate: (
    call: GateCall,
    gated: GatedTool,
    model: JsonValue,
    input: JsonValue,
    given?: GivenApproval,
  ) => Promise<Evaluation>
  readonly permit: (progress: Progress, granted: Granted) => Evaluation
  readonly refuse: (
    draft: Draft,
    source: DecisionSource,
    denial: CordonError,
    decision?: 'deny' | 'unavailable',
  ) => Evaluation
  /** The same, with the denial as the outcome of a step. */
  readonly refuseAt: (
    step: ExplainedStep['step'],
    draft: Draft,
    source: DecisionSource,
    denial: CordonError,
  ) => Evaluation
  /** The question behind an evaluation that asks. */
  readonly questionOf: (evaluation: Evaluation) => Progress | undefined
}

/** Why a call may run. */
interface Granted {
  readonly as: 'allow' | 'sandboxed'
  readonly source: DecisionSource
  readonly reason: string
  readonly approvalActionId?: string
  readonly grant?: ApprovalGrant
}

type Ask = Extract<Verdict, { readonly kind: 'ask' | 'unavailable' }>

export const createEvaluator = (settings: GateSettings, index: RuleIndex, runner: HookRunner): Evaluator => {
  const { now, newId, mode } = settings
  const questions = new WeakMap<Evaluation, Progress>()
  const usedApprovals = settings.usedApprovals ?? createUsedApprovals(now)
  const lastRunner: HookRunner = { ...runner, hooks: settings.lastHooks ?? [] }

  const canAsk = (call: GateCall): boolean => call.mayAsk ?? settings.isInteractive

  const record = (draft: Draft, conclusion: Conclusion, decisionId = newId()) =>
    recordOf(draft, conclusion, { decisionId, now: now(), mode })

  const refuse: Evaluator['refuse'] = (draft, source, denial, decision = 'deny') => ({
    kind: 'refused',
    decision: record(draft, {
      decision,
      source,
      reason: denial.message,
      denial,
      changes: denial.fix === undefined ? [] : [denial.fix],
    }),
    ...evaluated(draft),
    denial,
  })
  const refuseAt: Evaluator['refuseAt'] = (step, draft, source, denial) =>
    refuse(withStep(draft, step, denial.message), source, denial)

  const permit: Evaluator['permit'] = (
    { draft, tool, substitute },
    { as, source, reason, approvalActionId, grant },
  ) => {
    const { call, argumentsHash, argumentBytes } = draft
    const approved = {
      ...(approvalActionId === undefined ? {} : { approvalActionId }),
      scope: grant?.scope ?? ('call' as const),
    }
    const changes = waysToStop(draft, source)
    if (substitute !== undefined) {
      const decision = record(draft, {
        decision: 'allow',
        source: 'hook',
        reason: `a hook stands in for the tool; ${reason}`,
        changes,
        ...approved,
      })
      return { kind: 'substituted', decision, ...evaluated(draft), result: substitute.value }
    }
    // Counted in the same step as the permit is minted, so that no other call can come between.
    const time = now()
    const exhausted = call.count.begin({ tool: tool.name, constraints: tool.constraints, argumentBytes }, time)
    if (exhausted !== undefined) return refuseAt('constraints', draft, 'constraint', exhausted)
    // An approval of one call is for one run.
    if (grant?.scope === 'call' && call.isTrial !== true) usedApprovals.add(grant.approval_action_id, grant.expires_at)
    const decisionId = newId()
    const expiresAt = call.isTrial === true ? time : time + lifetimeOf(settings, 'permit')
    const terms = {
      permitId: newId(),
      callId: call.callId,
      decisionId,
      tool: tool.name,
      argumentsHash: argumentsHash ?? '',
      policyHash: tool.policyHash,
      expiresAt,
    }
    return {
      kind: 'permitted',
      decision: record(draft, { decision: as, source, reason, expiresAt, changes, ...approved }, decisionId),
      ...evaluated(draft),
      permit: mintPermit(terms),
      grant,
    }
  }

  const ask = (progress: Progress, { source, reason }: Ask, askedAgain: readonly string[]): Evaluation => {
    const draft = withStep(progress.draft, 'approval', 'somebody is asked')
    const evaluation: Evaluation = {
      kind: 'asking',
      decision: record(draft, {
        decision: 'ask',
        source,
        reason,
        approvalActionId: newId(),
        expiresAt: now() + (draft.call.questionLifetime ?? lifetimeOf(settings, 'approval')),
        changes: waysToAllow(draft, source),
        askedAgain,
      }),
      ...evaluated(draft),
      why: reason,
    }
    questions.set(evaluation, { ...progress, draft })
    return evaluation
  }

  const unavailable = ({ draft }: Progress, { reason, source }: Ask, problem: string): Evaluation => {
    // A rule that asks needs the answer of a person. The person who typed the command can give it.
    const answer = source === 'rule' && draft.call.origin === 'command' ? ['run it at a terminal and answer there'] : []
    const fix = [...answer, ...waysToAllow(draft, source)].join('; ')
    const denial = fail('approval-unavailable', { tool: draft.call.tool, why: reason, problem, fix })
    return refuse(withStep(draft, 'approval', problem), source, denial, 'unavailable')
  }

  const askIfPossible = (progress: Progress, question: Ask, askedAgain: readonly string[]): Evaluation => {
    if (question.kind === 'unavailable') return unavailable(progress, question, `in the mode ${mode} nobody is`)
    return canAsk(progress.draft.call)
      ? ask(progress, question, askedAgain)
      : unavailable(progress, question, 'this session is not interactive')
  }

  /** An answer without a question: by the approver who changed the input, an earlier approval, or a typed command. */
  const answeredAlready = (
    progress: Progress,
    given: GivenApproval | undefined,
  ): Granted | { readonly askedAgain: readonly string[] } => {
    const { draft, tool } = progress
    if (given !== undefined)
      return {
        as: 'allow',
        source: 'approver',
        reason: `approved by ${given.by}, who changed the input`,
        approvalActionId: given.approvalActionId,
      }
    const found = findApproval(draft.call.approvals ?? [], {
      tool: tool.name,
      argumentsHash: draft.argumentsHash ?? '',
      policyHash: tool.policyHash,
      now: now(),
      isUsed: usedApprovals.has,
    })
    if (found.kind === 'found') {
      const { grant } = found
      const reason = `approved before by ${grant.approved_by}`
      return { as: 'allow', source: 'approver', reason, approvalActionId: grant.approval_action_id, grant }
    }
    if (isApprovedByTyping(progress, mode)) {
      const reason = draft.call.typed ?? 'typed by the person who would be asked'
      return { as: 'allow', source: 'command', reason }
    }
    const { overruled, locked, untrusted, deciding } = draft.rules
    return {
      askedAgain: [
        ...found.because,
        ...overruled.map(
          ({ id }) => `the rule ${id} allows it, but ${deciding[0]?.id ?? 'another'} asks, and asking counts more`,
        ),
        ...locked.map(({ id }) => `the rule ${id} allows it, but only managed rules may allow`),
        ...untrusted.map(
          ({ id }) => `the rule ${id} allows it, but is of a project that is not among trusted_projects`,
        ),
      ],
    }
  }

  const permitLast = async (progress: Progress, granted: Granted, facts: RuleFacts): Promise<Evaluation> => {
    if (progress.substitute !== undefined || !hasHooks(lastRunner, 'pre_tool_use')) return permit(progress, granted)
    const { tool, draft } = progress
    const said = await runHooks(lastRunner, event('pre_tool_use', draft, null))
    if (said.kind === 'denied') return refuseAt('hooks', draft, 'hook', said.denial)
    if (said.effect !== 'ask') return permit(progress, granted)
    const stance = stanceOf(said)
    const { draft: judged, verdict } = await judge(draft, tool, facts, stance, index, settings)
    const asked = { ...progress, draft: judged, stance }
    switch (verdict.kind) {
      case 'refuse':
        return refuse(judged, verdict.source, verdict.denial)
      case 'run':
        // A local mode does not answer a question of the registry.
        return askIfPossible(asked, { kind: 'ask', source: 'hook', reason: stance.reason, isFirm: true }, [])
      case 'unavailable':
      case 'ask':
        return askIfPossible(asked, verdict, [])
    }
  }

  const event = (point: HookEvent['point'], { call, input }: Draft, reason: string | null): HookEvent =>
    Object.freeze({
      point,
      sessionId: settings.sessionId,
      callId: call.callId,
      tool: call.tool,
      input,
      output: null,
      reason,
    })

  const evaluate: Evaluator['evaluate'] = async (call, gatedTool, model, input, given) => {
    const { tool, gate } = gatedTool
    let draft = startDraft(call, tool, model)
    if (given !== undefined) draft = { ...draft, isEdited: true }
    let pending = input
    let seen = given?.seen
    let stance: HookStance = { effect: 'none', hooks: [], reason: '' }
    // The approval is for this input only.
    let approval = given
    const edited = (verdict: Passed, value: JsonValue) => {
      pending = value
      seen ??= draft.input
      approval = undefined
      // The input is replaced, so an allow for it no longer counts. An ask still does.
      if (verdict.effect === 'ask') stance = stanceOf(verdict)
      const { hooks, context } = verdict
      draft = withStep(draft, 'hooks', `the input was changed${hooks.length === 0 ? '' : ` by ${hooks.join(', ')}`}`, {
        isEdited: true,
        context: addContext(draft.context, context),
        round: draft.round + 1,
      })
    }

    while (draft.round <= MAX_ROUNDS) {
      const gated = await gateInput(draft, tool, gate, pending, now(), seen)
      if (gated.kind === 'refused') return refuse(gated.draft, gated.source, gated.denial)
      draft = gated.draft
      let substitute: Value | undefined
      if (hasHooks(runner, 'pre_tool_use')) {
        const verdict = await runHooks(runner, event('pre_tool_use', draft, null))
        if (verdict.kind === 'denied') return refuseAt('hooks', draft, 'hook', verdict.denial)
        if (verdict.updatedInput !== undefined) {
          edited(verdict, verdict.updatedInput.value)
          continue
        }
        if (stance.effect !== 'ask' || verdict.effect === 'ask') stance = stanceOf(verdict)
        substitute = verdict.result
        draft = withStep(draft, 'hooks', verdict.effect === 'none' ? 'no objection' : verdict.effect, {
          context: addContext(draft.context, verdict.context),
        })
      }
      const { draft: judged, verdict } = await judge(draft, tool, gated.facts, stance, index, settings)
      draft = judged
      const progress: Progress = { tool, gate, draft, stance, substitute }
      if (verdict.kind === 'refuse') return refuse(draft, verdict.source, verdict.denial)
      if (verdict.kind === 'run')
        return permitLast(
          progress,
          call.origin === 'command' && verdict.source === 'mode'
            ? { ...verdict, source: 'command', reason: call.typed ?? verdict.reason }
            : verdict,
          gated.facts,
        )

      const answered = answeredAlready(progress, approval)
      if (!('askedAgain' in answered)) return permitLast(progress, answered, gated.facts)
      if (verdict.kind === 'ask' && hasHooks(runner, 'permission_request')) {
        const requested = await runHooks(runner, event('permission_request', draft, verdict.reason))
        if (requested.kind === 'denied') return refuseAt('approval', draft, 'hook', requested.denial)
        if (requested.updatedInput !== undefined) {
          edited(requested, requested.updatedInput.value)
          continue
        }
        if (requested.effect === 'allow' && !verdict.isFirm)
          return permitLast(
            progress,
            { as: 'allow', source: 'hook', reason: `allowed by the hook ${requested.hooks.join(', ')}` },
            gated.facts,
          )
      }
      return askIfPossible(progress, verdict, answered.askedAgain)
    }
    return refuse(draft, 'hook', fail('edits-without-end', { tool: tool.name, rounds: MAX_ROUNDS }))
  }

  return { evaluate, permit, refuse, refuseAt, questionOf: (evaluation) => questions.get(evaluation) }
}

/**
 * A person who types a command approves it and its grants. That does not answer a rule or a hook that asks for a look
 * at this very command. In the mode untrusted it answers nothing.
 */
const isApprovedByTyping = ({ draft: { call, rules }, stance }: Progress, mode: Mode): boolean =>
  call.origin === 'command' &&
  rules.effect !== 'ask' &&
  stance.effect !== 'ask' &&
  (mode !== 'untrusted' || rules.effect === 'allow')

type Passed = Extract<HookVerdict, { readonly kind: 'passed' }>

const stanceOf = ({ effect, hooks, reason }: Passed): HookStance => ({ effect, hooks, reason })

const addContext = (before: readonly string[], more: readonly string[]): readonly string[] => [
  ...new Set([...before, ...more]),
]
