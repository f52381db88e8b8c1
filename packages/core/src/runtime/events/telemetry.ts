// Spans and metrics for hosts that use OpenTelemetry. Its API is an optional package. Without it nothing happens.
import type * as OpenTelemetry from '@opentelemetry/api'

import type { CordonEvent } from './event.js'
import type { EventStream } from './event-stream.js'
import { createMeters } from './telemetry-meters.js'
import { createCallSpans } from './telemetry-spans.js'

export interface Telemetry {
  /** Whether the package is installed. */
  readonly isActive: boolean
  /** Called when a call comes in: the active span becomes the parent of its span. */
  readonly begin: (callId: string) => void
  /** Ends all open spans. */
  readonly stop: () => void
}

export const connectTelemetry = async (
  stream: Pick<EventStream, 'on'>,
  /** Tests load something else. */
  { load = () => import('@opentelemetry/api') }: { readonly load?: () => Promise<unknown> } = {},
): Promise<Telemetry> => {
  // Not installed, or broken: neither is a reason for calls to fail.
  const api = (await load().catch(() => undefined)) as typeof OpenTelemetry | undefined
  if (api === undefined) return { isActive: false, begin: () => undefined, stop: () => undefined }
  const spans = createCallSpans(api)
  const meters = createMeters(api)
  const leave = stream.on('*', (event: CordonEvent) => {
    spans.take(event)
    meters.take(event)
  })
  return {
    isActive: true,
    begin: spans.begin,
    stop: () => {
      leave()
      spans.endAll()
    },
  }
}
