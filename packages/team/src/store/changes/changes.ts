// Waits for changes that the database announces.
import { createHash } from 'node:crypto'

import { isAway } from '../../errors/errors.js'
import type { Engine, Queryable } from '../engine.js'
import type { Invocation } from '../registry/call-answers.js'
import { requireInvocation } from '../registry/invocations.js'

/** Each notification has the mark of its call or run (`markOf`), not the id, because every login may listen. */
export type Channel = (typeof CHANNELS)[number]

/** Notifications of changes. A waiter also wakes by itself, because a notification can be lost with its connection. */
export interface Changes {
  /** Resolves at the next notification that `isAbout` accepts, at the signal, or after a while, at most that long. */
  readonly next: (
    isAbout: (notification: string, channel: Channel) => boolean,
    atMostMs: number,
    signal?: AbortSignal,
  ) => { readonly changed: Promise<void>; readonly stop: () => void }
  /** Resolves when later notifications will be heard. */
  readonly listening: () => Promise<void>
  readonly close: () => Promise<void>
}

const CHANNELS = ['tool_invocation', 'tool_invocation_approval_required', 'tool_invocation_output'] as const
const ASK_AGAIN_MS = 2_000

/** As `agents.fn_notify` computes it. */
export const markOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32)

/** Make one for an engine: each uses a connection of its own to listen. */
export const watchChanges = (
  engine: Engine,
  settings: { readonly askAgainMs?: number; readonly channels?: readonly Channel[] } = {},
): Changes => {
  const { askAgainMs = ASK_AGAIN_MS, channels = CHANNELS } = settings
  const waiting = new Set<(notification: string, channel: Channel) => void>()
  let started: Promise<() => Promise<void>> | undefined
  const tell = (notification: string, channel: string): void => {
    for (const each of [...waiting]) each(notification, channel as Channel)
  }
  return {
    listening: async () => {
      started ??= engine.listen(channels, tell)
      // Without a listener waiters only wake later.
      await started.catch(() => {
        started = undefined
      })
    },
    next: (isAbout, atMostMs, signal) => {
      let stop = (): void => undefined
      const changed = new Promise<void>((resolve) => {
        const hear = (notification: string, channel: Channel): void => {
          if (isAbout(notification, channel)) resolve()
        }
        const end = (): void => {
          resolve()
        }
        waiting.add(hear)
        const timer = setTimeout(end, Math.min(askAgainMs, atMostMs))
        signal?.addEventListener('abort', end, { once: true })
        stop = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', end)
          waiting.delete(hear)
        }
      })
      return { changed, stop }
    },
    close: async () => {
      const stop = await started?.catch(() => undefined)
      await stop?.()
    },
  }
}

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
  if (isAway(error)) return undefined
  throw error
}
