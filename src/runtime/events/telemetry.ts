// Spans and metrics for hosts that use OpenTelemetry. Its API is an optional package: it is looked for
// when this is called, and without it nothing happens.
import type * as OpenTelemetry from '@opentelemetry/api'

import type { CordonEvent } from './event.js'
import type { EventStream } from './event-stream.js'
import { createMeters } from './telemetry-meters.js'
import { createCallSpans } from './telemetry-spans.js'

export interface Telemetry {
  /** Whether the package is installed. Collecting the data is the host's task. */
  readonly isActive: boolean
  /** To be called where a call comes in: the span that is active there becomes the parent of its spans. */
  readonly begin: (callId: string) => void
  /** Ends what is open, and listens no more. */
  readonly stop: () => void
}

const INACTIVE: Telemetry = { isActive: false, begin: () => undefined, stop: () => undefined }

export interface TelemetrySettings {
  /** Where the package comes from; told otherwise in tests. */
  readonly load?: () => Promise<unknown>
}

export const connectTelemetry = async (
  stream: Pick<EventStream, 'on'>,
  { load = () => import('@opentelemetry/api') }: TelemetrySettings = {},
): Promise<Telemetry> => {
  const api = await loadApi(load)
  if (api === undefined) return INACTIVE
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

const loadApi = async (load: () => Promise<unknown>): Promise<typeof OpenTelemetry | undefined> => {
  try {
    return (await load()) as typeof OpenTelemetry
  } catch {
    // Not installed. Anything else that is wrong with it is no reason for calls to fail either.
    return undefined
  }
}
