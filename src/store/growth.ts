import type { Caller, Registry, Turn } from './open-registry.js'
import type { AnyOperation } from './operations/index.js'

/** News of a growing answer: a new item with its mark, its end, or a sign that it still waits. */
export type GrowthNews =
  | { readonly kind: 'item'; readonly mark: string; readonly item: object }
  | { readonly kind: 'end'; readonly item: object }
  | { readonly kind: 'waiting' }

export interface Growing {
  /** For as long as this, at most. */
  readonly untilMs: number
  /** Waiting is told of as often. */
  readonly breathMs: number
  readonly signal: AbortSignal
  readonly turn: Turn
  /** The next is told when this has been taken in. */
  readonly told: (news: GrowthNews) => Promise<void> | void
}

/** Tells what an operation answers as it grows, until nothing more comes, the time is over, or the signal says so. */
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
    // What is after the last of them is another question, of which nothing is known yet.
    known = items.length === 0 ? next.mark : undefined
  }
}
