// One OpenTelemetry span for each call, with a child for each approval, hook, process and connection.
import type * as OpenTelemetry from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'

import type { CordonEvent } from './event.js'

type Api = Pick<typeof OpenTelemetry, 'trace' | 'context' | 'SpanStatusCode'>

interface OpenCall {
  readonly span: Span
  readonly context: Context
  readonly children: Map<string, Span>
}

export interface CallSpans {
  readonly begin: (callId: string) => void
  readonly take: (event: CordonEvent) => void
  readonly endAll: (at?: Date) => void
}

/** A decision may have no call that follows, and a call no record. The oldest of their spans are dropped. */
const MAX_OPEN = 10_000

const dropOldest = (spans: ReadonlyMap<string, unknown>, drop: (callId: string) => void): void => {
  for (const oldest of spans.keys()) {
    if (spans.size <= MAX_OPEN) return
    drop(oldest)
  }
}

export const createCallSpans = ({ trace, context, SpanStatusCode }: Api): CallSpans => {
  const tracer = trace.getTracer('cordon')
  const parents = new Map<string, Context>()
  const open = new Map<string, OpenCall>()

  const end = (callId: string, at: Date): void => {
    const call = open.get(callId)
    open.delete(callId)
    for (const child of call?.children.values() ?? []) child.end(at)
    call?.span.end(at)
  }

  const endAll = (at = new Date()): void => {
    for (const callId of [...open.keys()]) end(callId, at)
  }

  const callOf = (callId: string, tool: string, sessionId: string, at: Date): OpenCall => {
    const known = open.get(callId)
    if (known !== undefined) return known
    const parent = parents.get(callId) ?? context.active()
    parents.delete(callId)
    const attributes = {
      'cordon.call_id': callId,
      'cordon.session_id': sessionId,
      'cordon.tool': tool,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': callId,
    }
    const span = tracer.startSpan(`cordon.call ${tool}`, { startTime: at, attributes }, parent)
    const call: OpenCall = { span, context: trace.setSpan(parent, span), children: new Map() }
    open.set(callId, call)
    dropOldest(open, (oldest) => {
      end(oldest, at)
    })
    return call
  }

  const takeOfCall = (event: CordonEvent, callId: string, at: Date): void => {
    const call = open.get(callId)
    const spanOf = (tool: string): Span => callOf(callId, tool, event.session_id, at).span
    const startChild = (key: string, name: string, attributes: Attributes): void => {
      const parent = open.get(callId)
      const child = { startTime: at, attributes: { 'cordon.call_id': callId, ...attributes } }
      parent?.children.set(key, tracer.startSpan(name, child, parent.context))
    }
    const endChild = (key: string, attributes: Attributes, problem?: string | null): void => {
      const child = call?.children.get(key)
      call?.children.delete(key)
      child?.setAttributes(attributes)
      if (typeof problem === 'string') child?.setStatus({ code: SpanStatusCode.ERROR, message: problem })
      child?.end(at)
    }
    const decisionId = { 'cordon.decision_id': ('decision_id' in event ? event.decision_id : null) ?? '' }
    switch (event.type) {
      case 'permission.evaluated': {
        const { tool, decision_id, decision, decision_source, decision_reason, rule_refs, destructive } =
          event.permission_decision
        spanOf(tool).setAttributes({
          'cordon.decision_id': decision_id,
          'cordon.decision': decision,
          'cordon.decision_source': decision_source,
          'cordon.decision_reason': decision_reason,
          'cordon.rule_refs': [...rule_refs],
          'cordon.destructive': destructive,
        })
        return
      }
      case 'permission.requested':
        startChild(`approval ${event.approval_action_id}`, 'cordon.approval', {
          'cordon.approval_action_id': event.approval_action_id,
          ...decisionId,
        })
        return
      case 'permission.resolved':
        endChild(`approval ${event.approval_action_id}`, { 'cordon.resolution': event.resolution })
        return
      case 'hook.started':
        // Hooks run before the decision. A call that was only evaluated has no span.
        if (event.tool !== null && parents.has(callId)) spanOf(event.tool)
        startChild(`hook ${event.hook} ${event.point}`, `cordon.hook ${event.hook}`, {
          'cordon.hook_point': event.point,
        })
        return
      case 'hook.completed':
        endChild(`hook ${event.hook} ${event.point}`, { 'cordon.hook_decision': event.decision })
        return
      case 'hook.failed':
        endChild(`hook ${event.hook} ${event.point}`, {}, event.problem)
        return
      case 'process.started':
        startChild('process', 'cordon.process', decisionId)
        return
      case 'process.completed':
        endChild('process', { 'process.exit.code': event.exit_code })
        return
      case 'process.terminated':
        endChild('process', { 'cordon.terminated_because': event.because }, event.because)
        return
      case 'egress.opened':
        startChild(`connection ${event.connection}`, 'cordon.connection', {
          ...decisionId,
          'server.address': event.host,
          'server.port': event.port,
        })
        return
      case 'egress.request':
        // An event of its connection. Spans of requests are left to the tool.
        call?.children.get(`connection ${event.connection}`)?.addEvent(
          'egress.request',
          {
            'http.request.method': event.method,
            'url.path': event.path,
            'cordon.rule': event.rule,
            'cordon.credentials': [...event.credentials],
            ...(event.status === null ? {} : { 'http.response.status_code': event.status }),
          },
          at,
        )
        return
      case 'egress.closed':
        endChild(`connection ${event.connection}`, {}, event.problem)
        return
      case 'sandbox.mismatch':
        call?.span.addEvent('sandbox.mismatch', { 'cordon.problem': event.problem }, at)
        return
      case 'sandbox.unconfined':
        call?.span.addEvent('sandbox.unconfined', {}, at)
        return
      case 'egress.summed':
        if (event.sum === null) return
        call?.span.addEvent(
          'egress.summed',
          { 'cordon.connections': event.sum.connections, 'cordon.requests': event.sum.requests },
          at,
        )
        return
      case 'sandbox.applied':
        call?.span.setAttributes({ 'cordon.sandbox': event.sandbox_profile.form })
        return
      case 'sandbox.violation':
        call?.span.addEvent(
          'sandbox.violation',
          {
            'cordon.violation': event.violation.kind,
            'cordon.violation_ref': event.violation_ref,
            ...decisionId,
          },
          at,
        )
        return
      case 'tool.called':
        spanOf(event.tool).setAttributes({ ...decisionId, 'cordon.risk': event.risk })
        return
      case 'tool.denied':
        spanOf(event.tool).setAttributes({
          'cordon.status': 'denied',
          ...decisionId,
          'cordon.error_code': event.error_code ?? '',
        })
        end(callId, at)
        return
      case 'tool.completed': {
        const span = spanOf(event.tool)
        span.setAttributes({ 'cordon.status': event.status, 'cordon.error_code': event.error_code ?? '' })
        if (event.status !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR, message: event.reason ?? event.status })
        end(callId, at)
        return
      }
      case 'session.started':
      case 'session.ended':
      case 'policy.changed':
      case 'audit.began':
      case 'audit.repaired':
        return
    }
  }

  return {
    begin: (callId) => {
      parents.set(callId, context.active())
      dropOldest(parents, (oldest) => {
        parents.delete(oldest)
      })
    },
    take: (event) => {
      const at = new Date(event.timestamp)
      if (event.type === 'session.ended') endAll(at)
      else if (event.call_id !== null) takeOfCall(event, event.call_id, at)
    },
    endAll,
  }
}
