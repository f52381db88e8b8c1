// Spans and metrics for hosts that use OpenTelemetry. Its API is an optional package. Without it nothing happens.
import type * as OpenTelemetry from '@opentelemetry/api'

import type { EventStream } from './event-stream.js'
import type { CordonEvent } from './event.js'
import { createCallSpans } from './telemetry-spans.js'

export interface Telemetry {
  /** Called when a call comes in: the active span becomes the parent of its span. */
  readonly begin: (callId: string) => void
  /** Ends all open spans. */
  readonly stop: () => void
}

/** Undefined if the package is not installed. */
export const connectTelemetry = async (
  stream: Pick<EventStream, 'on'>,
  /** Tests load something else. */
  { load = () => import('@opentelemetry/api') }: { readonly load?: () => Promise<unknown> } = {},
): Promise<Telemetry | undefined> => {
  // Not installed, or broken: neither is a reason for calls to fail.
  const api = (await load().catch(() => undefined)) as typeof OpenTelemetry | undefined
  if (api === undefined) return undefined
  const spans = createCallSpans(api)
  const measure = createMeters(api)
  const leave = stream.on('*', (event: CordonEvent) => {
    spans.take(event)
    measure(event)
  })
  return {
    begin: spans.begin,
    stop: () => {
      leave()
      spans.endAll()
    },
  }
}

/** Counters and histograms. Ids are no attributes here: every value of an attribute is a series of its own. */
const createMeters = ({ metrics }: Pick<typeof OpenTelemetry, 'metrics'>): ((event: CordonEvent) => void) => {
  const meter = metrics.getMeter('cordon')
  const calls = meter.createCounter('cordon.calls', { description: 'calls that ended, by tool and status' })
  const decisions = meter.createCounter('cordon.decisions', { description: 'decisions, by outcome and who decided' })
  const violations = meter.createCounter('cordon.violations', {
    description: 'boundaries that were touched, by tool and kind',
  })
  const requests = meter.createCounter('cordon.egress.requests', {
    description: 'requests to granted hosts, by tool and status',
  })
  const failedHooks = meter.createCounter('cordon.hooks.failed', { description: 'hooks that failed' })
  const duration = meter.createHistogram('cordon.call.duration', { description: 'how long calls ran', unit: 's' })
  const approval = meter.createHistogram('cordon.approval.duration', {
    description: 'how long answers took',
    unit: 's',
  })
  const asked = new Map<string, number>()
  return (event) => {
    switch (event.type) {
      case 'permission.evaluated': {
        const { tool, decision, decision_source: source } = event.permission_decision
        decisions.add(1, { 'cordon.tool': tool, 'cordon.decision': decision, 'cordon.decision_source': source })
        return
      }
      case 'permission.requested':
        asked.set(event.approval_action_id, Date.parse(event.timestamp))
        return
      case 'permission.resolved': {
        const since = asked.get(event.approval_action_id)
        asked.delete(event.approval_action_id)
        if (since !== undefined)
          approval.record((Date.parse(event.timestamp) - since) / 1000, {
            'cordon.tool': event.tool,
            'cordon.resolution': event.resolution,
          })
        return
      }
      case 'sandbox.violation':
        violations.add(1, { 'cordon.tool': event.tool, 'cordon.violation': event.violation.kind })
        return
      case 'tool.denied':
        calls.add(1, { 'cordon.tool': event.tool, 'cordon.status': 'denied' })
        return
      case 'tool.completed':
        calls.add(1, { 'cordon.tool': event.tool, 'cordon.status': event.status })
        duration.record(event.duration_ms / 1000, { 'cordon.tool': event.tool, 'cordon.status': event.status })
        return
      case 'egress.request':
        requests.add(1, {
          'cordon.tool': event.tool,
          'http.request.method': knownMethod(event.method),
          'cordon.status': event.status === null ? 'none' : `${Math.floor(event.status / 100)}xx`,
        })
        return
      case 'hook.failed':
        failedHooks.add(1, { 'cordon.hook': event.hook, 'cordon.hook_point': event.point })
        return
      default:
        return
    }
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** A tool can invent any number of methods. */
const knownMethod = (method: string): string => (METHODS.has(method) ? method : '_OTHER')
