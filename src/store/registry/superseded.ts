// Calls that wait and could not be asked for any more: their tool was registered anew, their profile was narrowed.
import { CordonError } from '../../errors/index.js'

import type { Session } from '../engine.js'

/** After a change that can have such calls: they are rejected with the reason, and who waits for one hears of it. */
export const thenRejectSuperseded = async <Result>(
  { query }: Pick<Session, 'query'>,
  change: Promise<Result>,
  team?: string,
): Promise<Result> => {
  const result = await change
  // The change is made, and no call can be approved or claimed against it. Upkeep tells those that are not told here.
  await query('select agents.fn_reject_superseded($1)', [team ?? null]).catch((error: unknown) => {
    if (!(error instanceof CordonError)) throw error
  })
  return result
}
