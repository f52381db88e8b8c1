// The events of a call, in their order.
import type { Evaluation, HookAnswer, HookReport, PermissionDecision, PermissionState } from '../../gate/index.js'
import type { ManifestVerdict } from '../../manifest/index.js'
import { describeViolation, MOST_VIOLATIONS_TOLD } from '../../sandbox/index.js'
import type { SandboxProfile, UnconfinedProfile, Usage, Violation } from '../../sandbox/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { EventStream } from './event-stream.js'
import type { EventDraft, EventOf, RecordedArguments } from './event.js'
import { processEnded } from './process-ending.js'
import type { CallIds, ProcessEnding } from './process-ending.js'

export const idsOf = ({ call_id, tool, decision_id }: PermissionDecision): CallIds => ({ call_id, tool, decision_id })

/** Events that are emitted in one turn of the event loop are written together. */
export const recordTogether = async (events: EventStream, drafts: readonly EventDraft[]): Promise<void> => {
  await Promise.all(drafts.map((draft) => events.emit(draft)))
}

type Evaluated = Pick<Evaluation, 'decision'>

export const evaluatedEvent = (
  { decision }: Evaluated,
  recorded: RecordedArguments,
  manifest?: ManifestVerdict,
): EventDraft => ({
  type: 'permission.evaluated',
  call_id: decision.call_id,
  permission_decision: decision,
  arguments: recorded,
  ...withoutUndefined({ manifest }),
})

export const deniedEvent = ({ decision }: Evaluated): EventDraft => {
  const { decision_reason: reason, error_code, risk, used_declared_capability } = decision
  return { type: 'tool.denied', ...idsOf(decision), reason, error_code, risk, used_declared_capability }
}

/** `session`: its name, which constraints and budgets count by. */
export const calledEvent = ({ decision }: Evaluated, recorded: RecordedArguments, session: string): EventDraft => ({
  type: 'tool.called',
  ...idsOf(decision),
  arguments: recorded,
  risk: decision.risk,
  policy_hash: decision.policy_hash,
  session,
})

/** A rule or an approval that holds for longer than one call. */
export interface PolicyChange {
  readonly change: 'approval' | 'rules'
  readonly because: string
}

export const policyChanged = (
  { call_id, tool, policy_hash }: PermissionDecision,
  { change, because }: PolicyChange,
  permission_state: PermissionState,
): EventDraft => ({ type: 'policy.changed', call_id, change, because, tool, policy_hash, permission_state })

/** How a run ended. Null where it had no sandbox, process or usage. */
interface RunEnd {
  readonly profile: SandboxProfile | UnconfinedProfile | null
  readonly violations: readonly Violation[]
  readonly ending: ProcessEnding | null
  readonly usage: Usage | null
  readonly completion: Omit<
    Extract<EventDraft, { type: 'tool.completed' }>,
    'type' | 'call_id' | 'tool' | 'decision_id'
  >
}

/** A tool in the agent's own process has no event. */
const boundaryEvent = (ids: CallIds, profile: SandboxProfile | UnconfinedProfile): readonly EventDraft[] => {
  if (profile.mode !== 'none') return [{ type: 'sandbox.applied', ...ids, sandbox_profile: profile }]
  return profile.backend === 'unconfined' ? [{ type: 'sandbox.unconfined', ...ids, sandbox_profile: profile }] : []
}

export const endEvents = (
  { decision }: Evaluated,
  { profile, violations, ending, usage, completion }: RunEnd,
): readonly EventDraft[] => {
  const ids = idsOf(decision)
  return [
    ...(profile === null ? [] : boundaryEvent(ids, profile)),
    ...violations.slice(0, MOST_VIOLATIONS_TOLD).map(
      (violation, at) =>
        ({
          type: 'sandbox.violation',
          ...ids,
          violation_ref: `violations/${at}`,
          violation,
          description: describeViolation(violation),
        }) as const,
    ),
    ...(ending === null ? [] : [processEnded(ids, ending, usage)]),
    { type: 'tool.completed', ...ids, ...completion },
  ]
}

/** Records a hook before and after it ran. */
export const recordHook = async (events: EventStream, { hook, event, ...report }: HookReport): Promise<void> => {
  const common = { call_id: event.callId, tool: event.tool, hook, point: event.point }
  switch (report.kind) {
    case 'started':
      await events.emit({ type: 'hook.started', ...common })
      return
    case 'failed':
      await events.emit({ type: 'hook.failed', ...common, problem: report.problem, duration_ms: report.durationMs })
      return
    case 'completed': {
      const { decision = 'continue', reason = null, auditRefs = [] } = report.answer
      await events.emit({
        type: 'hook.completed',
        ...common,
        decision,
        effects: effectsOf(report.answer),
        reason,
        audit_refs: auditRefs,
        duration_ms: report.durationMs,
      })
    }
  }
}

const effectsOf = (answer: HookAnswer): EventOf<'hook.completed'>['effects'] => [
  ...('updatedInput' in answer ? (['input'] as const) : []),
  ...('updatedOutput' in answer ? (['output'] as const) : []),
  ...('result' in answer ? (['result'] as const) : []),
  ...(answer.context === undefined ? [] : (['context'] as const)),
  ...(answer.suppressOutput === true ? (['suppressed'] as const) : []),
]
