// Access to a store from this process.
import type { Engine } from './engine.js'
import { AT_ONCE, openRegistry, followGrowth } from './open-registry.js'
import type { Caller, Following, Marked } from './open-registry.js'
import { readFields } from './operations/field.js'
import { operationOf } from './operations/index.js'
import type { AnswerOf, GivenTo, OperationName } from './operations/index.js'

/** As long as a server streams. */
const GROWTH_MS = 60_000

/** A store in this process or behind a server, with the same operations. */
export interface StoreAccess {
  readonly where: string
  readonly ask: <Name extends OperationName>(name: Name, given: GivenTo<Name>) => Promise<AnswerOf<Name>>
  /** The answer once it differs from the known one. Undefined if it did not change in that time. */
  readonly follow: <Name extends OperationName>(
    name: Name,
    given: GivenTo<Name>,
    following: Following,
  ) => Promise<Marked<AnswerOf<Name>> | undefined>
  /** Passes on new items of a growing answer, for a while. Returns the last one once nothing more comes. */
  readonly grow: <Name extends OperationName>(
    name: Name,
    given: GivenTo<Name>,
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
    ask: async (name, given) =>
      JSON.parse(
        JSON.stringify(
          (await registry.answer(operationOf(name), caller, readFields(operationOf(name).fields, given))) ?? null,
        ),
      ) as never,
    follow: async (name, given, following) =>
      (await registry.follow(operationOf(name), caller, given, following)) as never,
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
