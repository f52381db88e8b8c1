// Waits until a call of the registry is in a state.
import { CordonError } from 'cordon/errors'

import type { Queryable } from '../engine.js'
import type { Invocation } from '../registry/call-answers.js'
import { requireInvocation } from '../registry/invocations.js'
import { markOf } from './changes.js'
import type { Changes } from './changes.js'

export interface Waiting {
  readonly until: (invocation: Invocation) => boolean
  readonly signal?: AbortSignal
}

export interface InvocationWatch {
  readonly wait: (session: Queryable, id: string, waiting: Waiting) => Promise<Invocation>
}

/** Looks at the call after each notification about it, and from time to time. */
export const watchInvocations = (changes: Pick<Changes, 'listening' | 'next'>): InvocationWatch => ({
  wait: async (session, id, { until, signal }) => {
    await changes.listening()
    const mark = markOf(id)
    for (;;) {
      signal?.throwIfAborted()
      // Listens before it looks, so that no change in between is missed.
      const { changed, stop } = changes.next(
        (notification, channel) => channel === 'tool_invocation' && notification === mark,
        Number.POSITIVE_INFINITY,
        signal,
      )
      try {
        const invocation = await requireInvocation(session, id).catch(untilItIsBack)
        if (invocation !== undefined && until(invocation)) return invocation
        await changed
      } finally {
        stop()
      }
    }
  },
})

/** Goes on waiting while the database cannot be reached. */
const untilItIsBack = (error: unknown): undefined => {
  if (error instanceof CordonError && ['store-unavailable', 'store-full', 'store-busy'].includes(error.code))
    return undefined
  throw error
}
