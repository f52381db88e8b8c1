// A call as a stream of its output, progress, log lines and result.
import type { JsonValue } from '../../gate/index.js'

import type { CallOptions } from '../cordon-options.js'
import type { ToolLog, ToolOutput, ToolResult } from '../result/tool-result.js'

export type StreamPart<Output = JsonValue> =
  | ({ readonly kind: 'output' } & ToolOutput)
  | { readonly kind: 'progress'; readonly value: unknown }
  | ({ readonly kind: 'log' } & ToolLog)
  /** The last part. */
  | { readonly kind: 'result'; readonly result: ToolResult<Output> }

type Listeners = Required<Pick<CallOptions, 'signal' | 'onOutput' | 'onProgress' | 'onLog'>>

/** Parts wait in memory until they are read. Their size is bounded by the limits of the tool's output. */
export async function* streamCall(
  call: (listeners: Listeners) => Promise<ToolResult>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamPart, void, undefined> {
  const waiting: StreamPart[] = []
  let wake = (): void => undefined
  const give = (part: StreamPart): void => {
    waiting.push(part)
    wake()
  }
  let failure: { readonly error: unknown } | undefined
  const left = new AbortController()
  const ended = call({
    signal: signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]),
    onOutput: (chunk) => {
      give({ kind: 'output', ...chunk })
    },
    onProgress: (value) => {
      give({ kind: 'progress', value })
    },
    onLog: (line) => {
      give({ kind: 'log', ...line })
    },
  }).then(
    (result) => {
      give({ kind: 'result', result })
    },
    (error: unknown) => {
      failure = { error }
      wake()
    },
  )
  try {
    for (;;) {
      const part = waiting.shift()
      if (part !== undefined) {
        yield part
        if (part.kind === 'result') return
      } else if (failure !== undefined) throw failure.error
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    left.abort()
    await ended
  }
}
