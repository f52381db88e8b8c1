// News of an answer that grows, such as the output of a call.
import type { Caller, Registry, Turn } from './open-registry.js'
import type { AnyOperation } from './operations/index.js'

/** News of a growing answer: a new item with its mark, its end, or a sign that it still waits. */
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
