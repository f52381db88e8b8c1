import { AT_ONCE, openRegistry } from './open-registry.js'
import type { Caller, Following, Marked } from './open-registry.js'
import type { Engine } from './engine.js'
import { followGrowth } from './growth.js'
import { operationOf } from './operations/index.js'
import type { AnswerOf, GivenTo, OperationName } from './operations/index.js'
import { readFields } from './operations/field.js'

/** As long as a server goes on telling. */
const GROWTH_MS = 60_000

/** A store, wherever it is: what is asked and answered is the same. */
export interface StoreAccess {
  readonly where: string
  readonly ask: <Name extends OperationName>(name: Name, given: GivenTo<Name>) => Promise<AnswerOf<Name>>
  /** The answer as soon as it is another than the known one; undefined when it was not in that time. */
  readonly follow: <Name extends OperationName>(
    name: Name,
    given: GivenTo<Name>,
    following: Following,
  ) => Promise<Marked<AnswerOf<Name>> | undefined>
  /** Tells what is new of an answer that grows, until nothing more comes (then what was said last), or for a while. */
  readonly grow: <Name extends OperationName>(
    name: Name,
    given: GivenTo<Name>,
    told: (mark: string, item: unknown) => void,
    signal: AbortSignal,
  ) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** The database itself, from this process. */
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
