import type { HookAnswer, HookReport } from '../../gate/index.js'

import type { EventStream } from '../events/event-stream.js'
import type { EventOf } from '../events/event.js'

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
