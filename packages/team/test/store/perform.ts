// Operations of the registry, by whoever speaks to the database, with the answers that a server would send.
import { operationOf } from '../../src/store/index.js'
import type { AnswerOf, OperationName, Queryable, RequestOf } from '../../src/store/index.js'

export const perform = async <Name extends OperationName>(
  who: Queryable,
  name: Name,
  given: RequestOf<Name>,
): Promise<AnswerOf<Name>> => {
  const answer = await operationOf(name).perform(who, given)
  return JSON.parse(JSON.stringify(answer ?? null)) as AnswerOf<Name>
}
