// Operations of callers, answered by the database, for this process or for a server.
import { createHash } from 'node:crypto'
import { withoutUndefined } from 'cordon/shapes'

import { watchChanges } from './changes/changes.js'
import type { Changes } from './changes/changes.js'
import type { Engine } from './engine.js'
import type { AnyOperation } from './operations/index.js'
import { speakingAs } from './speaker.js'

/** An answer, and a mark that differs for every other answer. */
export interface Marked<Answer> {
  readonly answer: Answer
  readonly mark: string
}

export interface Following {
  /** The mark of the known answer. */
  readonly known?: string
  readonly waitMs: number
  readonly signal?: AbortSignal
  /** Limits the queries that run at the same time. */
  readonly turn?: Turn
}

/** Runs the work when it is its turn. After the signal nobody waits for it. */
export type Turn = <Result>(work: (signal?: AbortSignal) => Promise<Result>) => Promise<Result>

export const AT_ONCE: Turn = (work) => work()

/** The caller: the database login itself, or a member for whom a gateway acts. */
export type Caller =
  | { readonly kind: 'login' }
  | {
      readonly kind: 'somebody'
      readonly actor: string
      readonly team?: string
      /** The id of their token. */ readonly token?: string
    }

export interface Registry {
  readonly answer: (
    operation: AnyOperation,
    caller: Caller,
    given: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ) => Promise<unknown>
  readonly follow: (
    operation: AnyOperation,
    caller: Caller,
    given: Readonly<Record<string, unknown>>,
    following: Following,
  ) => Promise<(Marked<unknown> & { readonly text: string }) | undefined>
  readonly close: () => Promise<void>
}

export const openRegistry = (engine: Engine, changes: Changes = watchChanges(engine)): Registry => {
  const answer: Registry['answer'] = (operation, caller, given, signal) => {
    const { role, longestMs } = operation
    const asking = speakingAs(
      engine,
      caller.kind === 'login' ? caller : { ...caller, kind: 'gateway', role },
      withoutUndefined({ signal, longestMs }),
    )
    return operation.perform(asking, given)
  }
  return {
    answer,
    follow: async (operation, caller, given, { known, waitMs, signal, turn = AT_ONCE }) => {
      const until = Date.now() + waitMs
      const { isAbout } = operation
      if (isAbout !== undefined && waitMs > 0) await changes.listening()
      for (;;) {
        // Listens before it looks, so that no change in between is missed.
        const { changed, stop } = changes.next(
          (notification, channel) => isAbout?.(given, notification, channel) === true,
          until - Date.now(),
          signal,
        )
        try {
          const text = JSON.stringify((await turn((over) => answer(operation, caller, given, over))) ?? null)
          const mark = createHash('sha256').update(text).digest('base64url')
          if (mark !== known) return { answer: JSON.parse(text), mark, text }
          if (Date.now() >= until || isAbout === undefined || signal?.aborted === true) return undefined
          await changed
        } finally {
          stop()
        }
      }
    },
    close: changes.close,
  }
}

/** News of a growing answer, such as the output of a call: a new item with its mark, its end, or a sign that it still waits. */
export type GrowthNews =
  | { readonly kind: 'item'; readonly mark: string; readonly item: object }
  | { readonly kind: 'end'; readonly item: object }
  | { readonly kind: 'waiting' }

export interface Growing {
  readonly untilMs: number
  /** How often `waiting` is reported. */
  readonly breathMs: number
  readonly signal: AbortSignal
  readonly turn: Turn
  /** The next news waits for its promise. */
  readonly told: (news: GrowthNews) => Promise<void> | void
}

/** Follows a growing answer until nothing more comes, the time is over, or the signal aborts. */
export const followGrowth = async (
  { follow }: Registry,
  operation: AnyOperation,
  caller: Caller,
  given: Readonly<Record<string, unknown>>,
  { untilMs, breathMs, signal, turn, told }: Growing,
): Promise<void> => {
  const { growth } = operation
  if (growth === undefined) return
  const until = Date.now() + untilMs
  let asked = given
  let known: string | undefined
  while (!signal.aborted && Date.now() < until) {
    const next = await follow(operation, caller, asked, {
      waitMs: Math.max(1, Math.min(breathMs, until - Date.now())),
      signal,
      turn,
      ...(known === undefined ? {} : { known }),
    })
    if (next === undefined) {
      await told({ kind: 'waiting' })
      continue
    }
    const answer = next.answer as never
    const items = growth.items(answer)
    for (const { mark, item } of items) {
      asked = growth.goOn(asked, mark)
      await told({ kind: 'item', mark, item })
    }
    const end = growth.end(answer)
    if (end !== undefined) {
      await told({ kind: 'end', item: end })
      return
    }
    // The next request starts after the last item, so no answer to it is known yet.
    known = items.length === 0 ? next.mark : undefined
  }
}
