import type { Witness } from '../../policy/index.js'

import { FINDINGS } from './finding.js'
import type { Finding, FindingId, Owner } from './finding.js'
import { fingerprintOf } from './fingerprint.js'
import type { Sentence } from './sentence.js'

interface Said {
  readonly sentence: Sentence
  /** What the fingerprint covers. */
  readonly change: unknown
  readonly witnesses?: readonly Witness[]
  readonly more?: readonly Sentence[]
}

export const makeFinding = (
  id: FindingId,
  { agent, server, tool, source }: Owner,
  { sentence, change, witnesses = [], more = [] }: Said,
): Finding => ({
  id,
  severity: FINDINGS[id].severity,
  ...(agent === undefined ? {} : { agent }),
  ...(server === undefined ? {} : { server }),
  ...(tool === undefined ? {} : { tool }),
  ...(source === undefined ? {} : { source }),
  sentence,
  witnesses,
  more,
  fingerprint: fingerprintOf(id, { agent, server, tool } as Owner, change),
})
