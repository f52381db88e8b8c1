// A call that a runner on another host runs: waits for its end, and passes on its output.
import type { CordonError } from 'cordon/errors'
import { readBoundedJson } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { PROGRESS_LIMITS } from 'cordon/runtime'
import type { Elsewhere, RemoteListening, ToolStatus } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { isFinal } from '../store/index.js'
import type { FinalStatus } from '../store/index.js'
import { anyOf } from './away.js'
import type { RegistryAccess, SeenCall } from './registry-access.js'

/** How long to wait for the end of a cancelled call. */
const ENDING_MS = 10_000

/** `leaving`: this process ends, and the call goes on. */
export const waitElsewhere = async (
  access: RegistryAccess,
  id: string,
  { signal, onProgress, onOutput }: RemoteListening,
  leaving: AbortSignal,
): Promise<SeenCall> => {
  const stop = access.follow(id, ({ stream, content }) => {
    if (stream === 'progress') onProgress(progressOf(content))
    else onOutput?.({ stream, text: content })
  })
  const until = ({ status }: SeenCall) => isFinal(status)
  try {
    return await access.wait(id, until, anyOf(signal, leaving))
  } catch (error) {
    if (signal?.aborted !== true || leaving.aborted) throw error
    await access.cancel(id, 'its caller cancelled it').catch(() => undefined)
    return await access
      .wait(id, until, AbortSignal.any([leaving, AbortSignal.timeout(ENDING_MS)]))
      .catch((_: unknown) => {
        throw fail('cancelled', {}, error)
      })
  } finally {
    await stop()
  }
}

/** A value that is cut off or too large arrives as text. */
const progressOf = (content: string): unknown => {
  const read = readBoundedJson(Buffer.from(content), PROGRESS_LIMITS)
  return read.kind === 'json' ? read.value : content
}

const STATUSES: ReadonlySet<unknown> = new Set<ToolStatus>([
  'failed',
  'violated',
  'timeout',
  'cancelled',
  'not_started',
])

/** The outcome of an ended call of the registry. */
export const outcomeOf = (invocation: SeenCall): Elsewhere => {
  const { id, status, output, runner, usage } = invocation
  const duration = usage?.['duration_ms']
  return {
    ...endingOf(invocation, status as FinalStatus),
    output: (output ?? undefined) as JsonValue | undefined,
    durationMs: typeof duration === 'number' ? duration : 0,
    bareRequests: textsOf(usage?.['bare_requests']),
    registered: { invocation: id, runner, boundary: (usage?.['boundary'] ?? null) as JsonValue },
  }
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []

const endingOf = (
  { id, error, runner, usage }: SeenCall,
  status: FinalStatus,
): { readonly status: Elsewhere['status']; readonly error: CordonError | undefined } => {
  switch (status) {
    case 'completed':
      return { status: 'ok', error: undefined }
    case 'failed': {
      const said = usage?.['status']
      const reason = usage?.['reason']
      const told = fail('runner-failed', {
        runner: runner ?? 'unknown',
        problem: error ?? 'it failed',
        reason: typeof reason === 'string' ? reason : 'The tool failed.',
      })
      return { status: STATUSES.has(said) ? (said as Elsewhere['status']) : 'failed', error: told }
    }
    case 'cancelled':
      return { status: 'cancelled', error: fail('cancelled', {}) }
    case 'rejected':
    case 'expired':
      return {
        status: 'failed',
        error: fail('store-state', {
          problem: `call ${id} is ${status}${error === null ? '' : `: ${error}`}`,
          hint: 'ask for it again',
        }),
      }
  }
}
