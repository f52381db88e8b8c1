// The requests that one peer still has to answer. Ids and progress tokens are ours, so a peer can answer only what it
// was asked, and only once.
import type { CordonError } from 'cordon/errors'

import { fail } from '../errors/errors.js'
import type { Fields, MessageId } from '../wire/messages.js'

/** How a request ended. `lost`: without an answer. */
export type Answer =
  { readonly kind: 'answered'; readonly fields: Fields } | { readonly kind: 'lost'; readonly error: CordonError }

export interface SentRequest {
  readonly id: number
  /** The token by which the original caller hears of progress. Undefined if it does not want to. */
  readonly token: unknown
  readonly answer: Promise<Answer>
}

export interface Exchange {
  readonly ask: (token: unknown) => SentRequest
  readonly waiting: (id: unknown) => SentRequest | undefined
  /** `unasked`: nobody waits for this answer, or it was given before. */
  readonly settle: (id: MessageId, fields: Fields) => 'settled' | 'late' | 'unasked'
  /** Nobody waits for this answer any more. `error`: the answer instead (default: cancelled). */
  readonly cancel: (id: number, error?: CordonError) => boolean
  /** All requests are lost, also later ones. */
  readonly end: (error: CordonError) => void
}

/** Answers to cancelled requests may still come. No more than these are remembered. */
const MOST_CANCELLED = 1_000

interface Pending extends SentRequest {
  readonly resolve: (answer: Answer) => void
}

export const createExchange = (): Exchange => {
  const pending = new Map<unknown, Pending>()
  const cancelled = new Set<unknown>()
  let lastId = 0
  let ended: CordonError | undefined
  const take = (id: unknown): Pending | undefined => {
    const found = pending.get(id)
    pending.delete(id)
    return found
  }
  return {
    ask: (token) => {
      lastId += 1
      const id = lastId
      let resolve: (answer: Answer) => void = () => undefined
      const answer = new Promise<Answer>((settle) => {
        resolve = settle
      })
      const asked = { id, token, answer, resolve }
      if (ended === undefined) pending.set(id, asked)
      else resolve({ kind: 'lost', error: ended })
      return asked
    },
    waiting: (id) => pending.get(id),
    settle: (id, fields) => {
      const found = take(id)
      if (found === undefined) return cancelled.delete(id) ? 'late' : 'unasked'
      found.resolve({ kind: 'answered', fields })
      return 'settled'
    },
    cancel: (id, error = fail('cancelled', {})) => {
      const found = take(id)
      if (found === undefined) return false
      const [oldest] = cancelled
      if (cancelled.size >= MOST_CANCELLED) cancelled.delete(oldest)
      cancelled.add(id)
      found.resolve({ kind: 'lost', error })
      return true
    },
    end: (error) => {
      ended = error
      const left = [...pending.values()]
      pending.clear()
      for (const { resolve } of left) resolve({ kind: 'lost', error })
    },
  }
}
