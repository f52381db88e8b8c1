import { CordonError } from '../errors/index.js'

import type { Engine, Session } from './engine.js'
import type { Invocation } from './invocation.js'
import { requireInvocation } from './invocations.js'

export interface Waiting {
  readonly until: (invocation: Invocation) => boolean
  readonly signal?: AbortSignal
}

/** Told of changes by the database; asks by itself as well, because a notification can be lost with a connection. */
export interface InvocationWatch {
  readonly wait: (session: Pick<Session, 'query'>, id: string, waiting: Waiting) => Promise<Invocation>
  readonly close: () => Promise<void>
}

const ASK_AGAIN_MS = 2_000

export const watchInvocations = (engine: Engine, askAgainMs = ASK_AGAIN_MS): InvocationWatch => {
  const waiting = new Map<string, Set<() => void>>()
  let listening: Promise<() => Promise<void>> | undefined
  const listen = () => {
    listening ??= engine.listen('tool_invocation', (payload) => {
      for (const look of waiting.get(payload.split(' ')[0] ?? '') ?? []) look()
    })
    return listening
  }

  const nextChange = (id: string, signal: AbortSignal | undefined): { readonly changed: Promise<void>; readonly stop: () => void } => {
    let stop = (): void => undefined
    const changed = new Promise<void>((resolve) => {
      const looks = waiting.get(id) ?? new Set()
      waiting.set(id, looks.add(resolve))
      const timer = setTimeout(resolve, askAgainMs)
      const onAbort = (): void => { resolve() }
      signal?.addEventListener('abort', onAbort, { once: true })
      stop = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        looks.delete(resolve)
        if (looks.size === 0) waiting.delete(id)
      }
    })
    return { changed, stop }
  }

  return {
    wait: async (session, id, { until, signal }) => {
      // Without a listener it still works, only later.
      await listen().catch(() => { listening = undefined })
      for (;;) {
        signal?.throwIfAborted()
        // Listened for before it is looked at: what happens in between is heard.
        const { changed, stop } = nextChange(id, signal)
        try {
          const invocation = await requireInvocation(session, id).catch(untilItIsBack)
          if (invocation !== undefined && until(invocation)) return invocation
          await changed
        } finally {
          stop()
        }
      }
    },
    close: async () => {
      const stop = await listening?.catch(() => undefined)
      await stop?.()
    },
  }
}

/** A database that is away for a while is waited for, like everything else. */
const untilItIsBack = (error: unknown): undefined => {
  if (error instanceof CordonError && (error.code === 'store-unavailable' || error.code === 'store-busy')) return undefined
  throw error
}
