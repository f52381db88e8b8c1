import { createHash } from 'node:crypto'

import type { Engine } from '../engine.js'

/**
 * On each a mark of the call or run that it is about (`markOf`); every login may listen, so the id itself is not told.
 */
export type Channel = (typeof CHANNELS)[number]

/**
 * Told by the database that something changed; wakes by itself as well, because a notification can be lost with a
 * connection.
 */
export interface Changes {
  /**
   * Resolves at the next notification that `isAbout` is true of, or after a while, at most that long, or when the
   * signal says so.
   */
  readonly next: (
    isAbout: (notification: string, channel: Channel) => boolean,
    atMostMs: number,
    signal?: AbortSignal,
  ) => { readonly changed: Promise<void>; readonly stop: () => void }
  /** Resolves when what is notified from then on is heard. */
  readonly listening: () => Promise<void>
  readonly close: () => Promise<void>
}

const CHANNELS = ['tool_invocation', 'tool_invocation_approval_required', 'tool_invocation_output'] as const
const ASK_AGAIN_MS = 2_000

/** As `agents.fn_notify` has it. */
export const markOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32)

export interface ChangesSettings {
  readonly askAgainMs?: number
  /** Left out, all of them. */
  readonly channels?: readonly Channel[]
}

/** One for an engine: each listens with a connection of its own. */
export const watchChanges = (
  engine: Engine,
  { askAgainMs = ASK_AGAIN_MS, channels = CHANNELS }: ChangesSettings = {},
): Changes => {
  const waiting = new Set<(notification: string, channel: Channel) => void>()
  let started: Promise<() => Promise<void>> | undefined
  const tell = (notification: string, channel: string): void => {
    for (const each of [...waiting]) each(notification, channel as Channel)
  }
  return {
    listening: async () => {
      started ??= engine.listen(channels, tell)
      // Without a listener it still works, only later.
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
