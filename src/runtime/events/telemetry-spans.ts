import type * as OpenTelemetry from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'

import type { CordonEvent, EventOf } from './event.js'

type Api = Pick<typeof OpenTelemetry, 'trace' | 'context' | 'SpanStatusCode'>

interface OpenCall {
  readonly span: Span
  readonly context: Context
  /** Approvals, hooks and processes within it, by what tells them apart. */
  readonly children: Map<string, Span>
}

export interface CallSpans {
  readonly begin: (callId: string) => void
  readonly take: (event: CordonEvent) => void
  readonly endAll: () => void
}

/** A decision may be asked for without a call that follows; such spans are given up, oldest first. */
const MAX_OPEN = 10_000

/** One span for each call, with its ids, and one within it for each approval, hook and process. */
export const createCallSpans = ({ trace, context, SpanStatusCode }: Api): CallSpans => {
  const tracer = trace.getTracer('cordon')
  const parents = new Map<string, Context>()
  const open = new Map<string, OpenCall>()

  const callOf = (event: CordonEvent, callId: string, tool: string): OpenCall => {
    const known = open.get(callId)
    if (known !== undefined) return known
    const parent = parents.get(callId) ?? context.active()
    parents.delete(callId)
    const span = tracer.startSpan(
      `cordon.call ${tool}`,
      {
        startTime: new Date(event.timestamp),
        attributes: {
          'cordon.call_id': callId,
          'cordon.session_id': event.session_id,
          'cordon.tool': tool,
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
          'gen_ai.tool.call.id': callId,
        },
      },
      parent,
    )
    const call: OpenCall = { span, context: trace.setSpan(parent, span), children: new Map() }
    open.set(callId, call)
    for (const [oldest] of open) {
      if (open.size <= MAX_OPEN) break
      end(oldest, new Date(event.timestamp))
    }
    return call
  }

  const end = (callId: string, at: Date): void => {
    const call = open.get(callId)
    open.delete(callId)
    for (const child of call?.children.values() ?? []) child.end(at)
    call?.span.end(at)
  }

  const startChild = (event: CordonEvent, key: string, name: string, attributes: Attributes): void => {
    const call = event.call_id === null ? undefined : open.get(event.call_id)
    call?.children.set(
      key,
      tracer.startSpan(
        name,
        { startTime: new Date(event.timestamp), attributes: { 'cordon.call_id': event.call_id ?? '', ...attributes } },
        call.context,
      ),
    )
  }

  const endChild = (event: CordonEvent, key: string, attributes: Attributes, problem?: string): void => {
    const call = event.call_id === null ? undefined : open.get(event.call_id)
    const child = call?.children.get(key)
    call?.children.delete(key)
    child?.setAttributes(attributes)
    if (problem !== undefined) child?.setStatus({ code: SpanStatusCode.ERROR, message: problem })
    child?.end(new Date(event.timestamp))
  }

  /** An event of its connection; spans of requests belong to the tool, if it makes any. */
  const tellRequest = (event: EventOf<'egress.request'>): void => {
    const call = event.call_id === null ? undefined : open.get(event.call_id)
    const attributes = {
      'http.request.method': event.method,
      'url.path': event.path,
      'cordon.rule': event.rule,
      'cordon.credentials': [...event.credentials],
      ...(event.status === null ? {} : { 'http.response.status_code': event.status }),
    }
    call?.children
      .get(`connection ${String(event.connection)}`)
      ?.addEvent('egress.request', attributes, new Date(event.timestamp))
  }

  return {
    begin: (callId) => {
      parents.set(callId, context.active())
      // Of a call that could not be recorded nobody hears again.
      for (const [oldest] of parents) {
        if (parents.size <= MAX_OPEN) break
        parents.delete(oldest)
      }
    },
    take: (event) => {
      const callId = event.call_id
      switch (event.type) {
        case 'permission.evaluated': {
          if (callId === null) return
          const { tool, decision_id, decision, decision_source, decision_reason, rule_refs, destructive } =
            event.permission_decision
          callOf(event, callId, tool).span.setAttributes({
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
          startChild(event, `approval ${event.approval_action_id}`, 'cordon.approval', {
            'cordon.approval_action_id': event.approval_action_id,
            'cordon.decision_id': event.decision_id ?? '',
          })
          return
        case 'permission.resolved':
          endChild(event, `approval ${event.approval_action_id}`, { 'cordon.resolution': event.resolution })
          return
        case 'hook.started':
          // Hooks are asked before there is a decision; of a call that nobody has begun nothing follows.
          if (callId !== null && event.tool !== null && parents.has(callId)) callOf(event, callId, event.tool)
          startChild(event, `hook ${event.hook} ${event.point}`, `cordon.hook ${event.hook}`, {
            'cordon.hook_point': event.point,
          })
          return
        case 'hook.completed':
          endChild(event, `hook ${event.hook} ${event.point}`, { 'cordon.hook_decision': event.decision })
          return
        case 'hook.failed':
          endChild(event, `hook ${event.hook} ${event.point}`, {}, event.problem)
          return
        case 'process.started':
          startChild(event, 'process', 'cordon.process', { 'cordon.decision_id': event.decision_id ?? '' })
          return
        case 'process.completed':
          endChild(event, 'process', { 'process.exit.code': event.exit_code })
          return
        case 'process.terminated':
          endChild(event, 'process', { 'cordon.terminated_because': event.because }, event.because)
          return
        case 'egress.opened':
          startChild(event, `connection ${String(event.connection)}`, 'cordon.connection', {
            'cordon.decision_id': event.decision_id ?? '',
            'server.address': event.host,
            'server.port': event.port,
          })
          return
        case 'egress.request':
          tellRequest(event)
          return
        case 'egress.closed':
          endChild(event, `connection ${String(event.connection)}`, {}, event.problem ?? undefined)
          return
        case 'egress.summed':
          if (callId !== null && event.sum !== null)
            open
              .get(callId)
              ?.span.addEvent(
                'egress.summed',
                { 'cordon.connections': event.sum.connections, 'cordon.requests': event.sum.requests },
                new Date(event.timestamp),
              )
          return
        case 'sandbox.applied':
          if (callId !== null) open.get(callId)?.span.setAttributes({ 'cordon.sandbox': event.sandbox_profile.form })
          return
        case 'sandbox.violation':
          if (callId !== null)
            open.get(callId)?.span.addEvent(
              'sandbox.violation',
              {
                'cordon.violation': event.violation.kind,
                'cordon.violation_ref': event.violation_ref,
                'cordon.decision_id': event.decision_id ?? '',
              },
              new Date(event.timestamp),
            )
          return
        case 'tool.called':
          if (callId !== null)
            callOf(event, callId, event.tool).span.setAttributes({
              'cordon.decision_id': event.decision_id ?? '',
              'cordon.risk': event.risk,
            })
          return
        case 'tool.denied':
          if (callId === null) return
          callOf(event, callId, event.tool).span.setAttributes({
            'cordon.status': 'denied',
            'cordon.decision_id': event.decision_id ?? '',
            'cordon.error_code': event.error_code ?? '',
          })
          end(callId, new Date(event.timestamp))
          return
        case 'tool.completed': {
          if (callId === null) return
          const { span } = callOf(event, callId, event.tool)
          span.setAttributes({ 'cordon.status': event.status, 'cordon.error_code': event.error_code ?? '' })
          if (event.status !== 'ok')
            span.setStatus({ code: SpanStatusCode.ERROR, message: event.reason ?? event.status })
          end(callId, new Date(event.timestamp))
          return
        }
        case 'session.ended':
          for (const callId of [...open.keys()]) end(callId, new Date(event.timestamp))
          return
        case 'session.started':
        case 'policy.changed':
        case 'audit.began':
        case 'audit.repaired':
          return
      }
    },
    endAll: () => {
      for (const callId of [...open.keys()]) end(callId, new Date())
    },
  }
}
