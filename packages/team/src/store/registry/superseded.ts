// Pending calls that would be refused today, because their tool or their profile has changed.
import { CordonError } from 'cordon/errors'

import type { Queryable } from '../engine.js'
import { callProcedure } from './statements.js'

/** Makes the change, then rejects such calls with the reason. Their callers are notified. */
export const thenRejectSuperseded = async <Result>(
  session: Queryable,
  change: Promise<Result>,
  owner?: string,
): Promise<Result> => {
  const result = await change
  // No such call can be approved or claimed any more. Upkeep rejects those that are missed here.
  await callProcedure(session, 'fn_reject_superseded', { owner }).catch((error: unknown) => {
    if (!(error instanceof CordonError)) throw error
  })
  return result
}
