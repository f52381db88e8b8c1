// The whole path of one call, from its input to a permit, a question or a refusal.
import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'

import { createUsedApprovals, findApproval } from './approval/approval.js'
import type { ApprovalGrant } from './approval/approval.js'
import type { ArgumentGate } from './arguments/argument-gate.js'
import type { CallFacts } from './call-facts.js'
import type { Evaluation, GateCall } from './call.js'
import type { DecisionSource } from './record/decision-kinds.js'
import { inputsOf, recordOf, startDraft, withStep } from './draft.js'
import type { Conclusion, Draft } from './draft.js'
import { gateInput } from './gate-input.js'
import { LIFETIMES } from './gate-settings.js'
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
import { waysToAllow, waysToStop } from './record/ways-out.js'

// A hook that corrects an input, and another that corrects the correction, are done well before this.
const MAX_ROUNDS = 8

/** A tool that was found, with its gate. */
export interface GatedTool {
  readonly tool: GateTool
  readonly gate: ArgumentGate
}

/** What is known when a question is asked, and needed when it is answered. */
export interface Progress extends GatedTool {
  readonly draft: Draft
  readonly stance: HookStance
  /** A hook stands in for the tool. */
  readonly substitute: Value | undefined
}

/** The person who approved this input while changing it. */
export interface GivenApproval {
  readonly by: string
  readonly approvalActionId: string
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
  /** The question behind an evaluation that asks. */
  readonly questionOf: (evaluation: Evaluation) => Progress | undefined
}

/** Why a call may run. */
export interface Granted {
  readonly as: 'allow' | 'sandboxed'
  readonly source: DecisionSource
  readonly reason: string
  readonly approvalActionId?: string
  readonly grant?: ApprovalGrant
}

type Ask = Extract<Verdict, { readonly kind: 'ask' | 'unavailable' }>

export const createEvaluator = (settings: GateSettings, index: RuleIndex, runner: HookRunner): Evaluator => {
  const { now, newId, mode, isInteractive } = settings
  const questions = new WeakMap<Evaluation, Progress>()
  const usedApprovals = createUsedApprovals(now)
  const lastRunner: HookRunner = { ...runner, hooks: settings.lastHooks ?? [] }

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
    inputs: inputsOf(draft),
    context: draft.context,
    denial,
  })

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
      return {
        kind: 'substituted',
        decision,
        inputs: inputsOf(draft),
        context: draft.context,
        result: substitute.value,
      }
    }
    // Counted in the same step in which the permit is made: no other call can come between.
    const time = now()
    const exhausted = call.session.begin({ tool: tool.name, constraints: tool.constraints, argumentBytes }, time)
    if (exhausted !== undefined)
      return refuse(withStep(draft, 'constraints', exhausted.message), 'constraint', exhausted)
    // One approval of a call is one run, and this is it.
    if (grant?.scope === 'call' && call.isTrial !== true) usedApprovals.add(grant.approval_action_id, grant.expires_at)
    const decisionId = newId()
    const expiresAt = call.isTrial === true ? time : time + (settings.lifetimes?.permit ?? LIFETIMES.permit)
    const terms = {
      permitId: newId(),
      callId: call.callId,
      decisionId,
      tool: tool.name,
      argumentsHash: argumentsHash ?? '',
      policyHash: tool.policyHash,
      expiresAt,
      isSingleUse: true,
    }
    return {
      kind: 'permitted',
      decision: record(draft, { decision: as, source, reason, expiresAt, changes, ...approved }, decisionId),
      inputs: inputsOf(draft),
      context: draft.context,
      permit: mintPermit(terms),
      grant,
    }
  }

  const ask = (progress: Progress, { source, reason }: Ask, askedAgain: readonly string[]): Evaluation => {
    const draft = withStep(progress.draft, 'approval', 'somebody is asked')
    const expiresAt = now() + (settings.lifetimes?.approval ?? LIFETIMES.approval)
    const evaluation: Evaluation = {
      kind: 'asking',
      decision: record(draft, {
        decision: 'ask',
        source,
        reason,
        approvalActionId: newId(),
        expiresAt,
        changes: waysToAllow(draft, source),
        askedAgain,
      }),
      inputs: inputsOf(draft),
      context: draft.context,
      why: reason,
    }
    questions.set(evaluation, { ...progress, draft })
    return evaluation
  }

  const unavailable = ({ draft }: Progress, { reason, source }: Ask, problem: string): Evaluation => {
    // Only a person's answer satisfies a rule that asks; who types a command can give one.
    const answer = source === 'rule' && draft.call.origin === 'command' ? ['run it at a terminal and answer there'] : []
    const fix = [...answer, ...waysToAllow(draft, source)].join('; ')
    const denial = fail('approval-unavailable', { tool: draft.call.tool, why: reason, problem, fix })
    return refuse(withStep(draft, 'approval', problem), source, denial, 'unavailable')
  }

  /**
   * What may answer before a person is asked: an approval of before, the person who typed it, the approver who changed
   * it.
   */
  const answeredAlready = (
    progress: Progress,
    given: GivenApproval | undefined,
  ): { readonly granted: Granted } | { readonly askedAgain: readonly string[] } => {
    const { draft, tool } = progress
    if (given !== undefined) {
      return {
        granted: {
          as: 'allow',
          source: 'approver',
          reason: `approved by ${given.by}, who changed the input`,
          approvalActionId: given.approvalActionId,
        },
      }
    }
    const wanted = {
      tool: tool.name,
      argumentsHash: draft.argumentsHash ?? '',
      policyHash: tool.policyHash,
      now: now(),
      isUsed: usedApprovals.has,
    }
    const found = findApproval(draft.call.approvals ?? [], wanted)
    if (found.kind === 'found') {
      const { grant } = found
      return {
        granted: {
          as: 'allow',
          source: 'approver',
          reason: `approved before by ${grant.approved_by}`,
          approvalActionId: grant.approval_action_id,
          grant,
        },
      }
    }
    if (isApprovedByTyping(progress, mode))
      return {
        granted: {
          as: 'allow',
          source: 'command',
          reason: draft.call.typed ?? 'typed by the person who would be asked',
        },
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

  const permitLast = async (progress: Progress, granted: Granted, facts: CallFacts): Promise<Evaluation> => {
    if (progress.substitute !== undefined || !hasHooks(lastRunner, 'pre_tool_use')) return permit(progress, granted)
    const { tool, draft } = progress
    const said = await runHooks(lastRunner, event('pre_tool_use', draft, null))
    if (said.kind === 'denied') return refuse(withStep(draft, 'hooks', said.denial.message), 'hook', said.denial)
    if (said.effect !== 'ask') return permit(progress, granted)
    const stance: HookStance = { effect: 'ask', hooks: said.hooks, reason: said.reason }
    const { draft: judged, verdict } = await judge(draft, tool, facts, stance, index, settings)
    const asked = { ...progress, draft: judged, stance }
    switch (verdict.kind) {
      case 'refuse':
        return refuse(judged, verdict.source, verdict.denial)
      case 'run':
        return permit(asked, granted)
      case 'unavailable':
        return unavailable(asked, verdict, `in the mode ${mode} nobody is`)
      case 'ask':
        return isInteractive ? ask(asked, verdict, []) : unavailable(asked, verdict, 'this session is not interactive')
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
    let stance: HookStance = { effect: 'none', hooks: [], reason: '' }
    // An approver's word is for the input as he left it.
    let approval = given
    const edited = (verdict: Passed, value: JsonValue) => {
      pending = value
      approval = undefined
      stance = strictestStance(stance, verdict)
      const { hooks, context } = verdict
      draft = withStep(draft, 'hooks', `the input was changed${hooks.length === 0 ? '' : ` by ${hooks.join(', ')}`}`, {
        isEdited: true,
        context: addContext(draft.context, context),
        round: draft.round + 1,
      })
    }

    while (draft.round <= MAX_ROUNDS) {
      const gated = await gateInput(draft, tool, gate, pending, now())
      if (gated.kind === 'refused') return refuse(gated.draft, gated.source, gated.denial)
      draft = gated.draft
      let substitute: Value | undefined
      if (hasHooks(runner, 'pre_tool_use')) {
        const verdict = await runHooks(runner, event('pre_tool_use', draft, null))
        if (verdict.kind === 'denied')
          return refuse(withStep(draft, 'hooks', verdict.denial.message), 'hook', verdict.denial)
        if (verdict.updatedInput !== undefined) {
          edited(verdict, verdict.updatedInput.value)
          continue
        }
        stance = finalStance(stance, verdict)
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
      if ('granted' in answered) return permitLast(progress, answered.granted, gated.facts)
      if (verdict.kind === 'unavailable') return unavailable(progress, verdict, `in the mode ${mode} nobody is`)
      if (hasHooks(runner, 'permission_request')) {
        const requested = await runHooks(runner, event('permission_request', draft, verdict.reason))
        if (requested.kind === 'denied')
          return refuse(withStep(draft, 'approval', requested.denial.message), 'hook', requested.denial)
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
      if (!isInteractive) return unavailable(progress, verdict, 'this session is not interactive')
      return ask(progress, verdict, answered.askedAgain)
    }
    return refuse(draft, 'hook', fail('edits-without-end', { tool: tool.name, rounds: MAX_ROUNDS }))
  }

  return { evaluate, permit, refuse, questionOf: (evaluation) => questions.get(evaluation) }
}

/**
 * Who types a command approves it, and the grants beside it. That is no answer to a rule or a hook that asks,
 * which wants somebody to look at this very command, nor in the mode untrusted, which trusts nobody's typing.
 */
const isApprovedByTyping = ({ draft: { call, rules }, stance }: Progress, mode: Mode): boolean =>
  call.origin === 'command' &&
  rules.effect !== 'ask' &&
  stance.effect !== 'ask' &&
  (mode !== 'untrusted' || rules.effect === 'allow')

type Passed = Extract<HookVerdict, { readonly kind: 'passed' }>

/** Of a round whose input was replaced only an ask is kept: an allow was for what is no longer there. */
const strictestStance = (stance: HookStance, { effect, hooks, reason }: Passed): HookStance =>
  effect === 'ask' ? { effect, hooks, reason } : stance

const finalStance = (stance: HookStance, { effect, hooks, reason }: Passed): HookStance =>
  stance.effect === 'ask' && effect !== 'ask' ? stance : { effect, hooks, reason }

const addContext = (before: readonly string[], more: readonly string[]): readonly string[] => [
  ...new Set([...before, ...more]),
]
