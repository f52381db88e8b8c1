import { createHash } from 'node:crypto'

import { canonicalJson } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import type { FindingId, Owner } from './finding.js'

/** Changed whenever the same finding would get another fingerprint. */
const FORM = 'cordon-finding/1'

/**
 * The same for the same change of the same tool, wherever it is written. `change` has both sides of everything that
 * could make the finding worse, so a later, wider change has another fingerprint (decision 35).
 */
export const fingerprintOf = (id: FindingId, { agent, server, tool }: Owner, change: unknown): string =>
  createHash('sha256')
    .update(canonicalJson([FORM, id, agent ?? null, server ?? null, tool ?? null, change] as JsonValue))
    .digest('hex')
    .slice(0, 32)
