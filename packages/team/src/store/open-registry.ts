// Operations of callers, answered by the database, for this process or for a server.
import { createHash } from 'node:crypto'
import { withoutUndefined } from 'cordon/shapes'

import { watchChanges } from './changes/changes.js'
import type { Changes } from './changes/changes.js'
import { speakingAs } from './engine.js'
import type { Engine } from './engine.js'
import { readFields } from './operations/field.js'
import { operationOf } from './operations/index.js'
import type { AnyOperation, AnswerOf, RequestOf, OperationName, RequestFields } from './operations/index.js'

/** An answer, and a mark that differs for every other answer. */
export interface MarkedAnswer<Answer> {
  readonly answer: Answer
  readonly mark: string
}

/** The answer as JSON. A server sends it as it is. */
interface MarkedText {
  readonly text: string
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

const AT_ONCE: Turn = (work) => work()

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
    given: RequestFields,
    signal?: AbortSignal,
  ) => Promise<unknown>
  readonly follow: (
    operation: AnyOperation,
    caller: Caller,
    given: RequestFields,
    following: Following,
  ) => Promise<MarkedText | undefined>
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
          if (mark !== known) return { mark, text }
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

/** News of an answer that grows, such as output: a new item with its mark, its end, or a sign that it still waits. */
export type GrowthNews =
  | { readonly kind: 'item'; readonly mark: string; readonly item: object }
  | { readonly kind: 'end'; readonly item: object }
  | { readonly kind: 'waiting' }

export interface GrowthReader {
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
  given: RequestFields,
  { untilMs, breathMs, signal, turn, told }: GrowthReader,
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
    const answer = JSON.parse(next.text) as never
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

/** As long as a server streams. */
const GROWTH_MS = 60_000

/** A store in this process or behind a server, with the same operations. */
export interface StoreAccess {
  readonly where: string
  readonly ask: <Name extends OperationName>(name: Name, given: RequestOf<Name>) => Promise<AnswerOf<Name>>
  /** The answer once it differs from the known one. Undefined if it did not change in that time. */
  readonly follow: <Name extends OperationName>(
    name: Name,
    given: RequestOf<Name>,
    following: Following,
  ) => Promise<MarkedAnswer<AnswerOf<Name>> | undefined>
  /** Passes on new items of a growing answer, for a while. Returns the last one once nothing more comes. */
  readonly grow: <Name extends OperationName>(
    name: Name,
    given: RequestOf<Name>,
    told: (mark: string, item: unknown) => void,
    signal: AbortSignal,
  ) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Opens the database in this process. */
export const openDirectAccess = (engine: Engine, caller: Caller): StoreAccess => {
  const registry = openRegistry(engine)
  return {
    where: engine.where,
    ask: async (name, given) => {
      const operation = operationOf(name)
      const answer = await registry.answer(operation, caller, readFields(operation.fields, given))
      return JSON.parse(JSON.stringify(answer ?? null)) as never
    },
    follow: async (name, given, following) => {
      const marked = await registry.follow(operationOf(name), caller, given, following)
      return marked === undefined ? undefined : { answer: JSON.parse(marked.text) as never, mark: marked.mark }
    },
    grow: async (name, given, told, signal) => {
      let last: unknown
      await followGrowth(registry, operationOf(name), caller, given, {
        untilMs: GROWTH_MS,
        breathMs: GROWTH_MS,
        signal,
        turn: AT_ONCE,
        told: (news) => {
          if (news.kind === 'item') told(news.mark, news.item)
          else if (news.kind === 'end') last = news.item
        },
      })
      return last
    },
    close: async () => {
      await registry.close()
      await engine.close()
    },
  }
}
