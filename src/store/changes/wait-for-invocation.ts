import { CordonError } from '../../errors/index.js'

import { markOf } from './changes.js'
import type { Changes } from './changes.js'
import type { Session } from '../engine.js'
import type { Invocation } from '../registry/invocation.js'
import { requireInvocation } from '../registry/invocations.js'

export interface Waiting {
  readonly until: (invocation: Invocation) => boolean
  readonly signal?: AbortSignal
}

export interface InvocationWatch {
  readonly wait: (session: Pick<Session, 'query'>, id: string, waiting: Waiting) => Promise<Invocation>
}

/** Looks at a call with every change of it that is heard of, and from time to time. */
export const watchInvocations = (changes: Pick<Changes, 'listening' | 'next'>): InvocationWatch => ({
  wait: async (session, id, { until, signal }) => {
    await changes.listening()
    const mark = markOf(id)
    for (;;) {
      signal?.throwIfAborted()
      // Listened for before it is looked at: what happens in between is heard.
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

/** A database that is away for a while is waited for, like everything else. */
const untilItIsBack = (error: unknown): undefined => {
  if (error instanceof CordonError && ['store-unavailable', 'store-full', 'store-busy'].includes(error.code))
    return undefined
  throw error
}
