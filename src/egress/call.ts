import type { Boundary, Credential, IpAddress, RequestScope } from '../policy/index.js'

import { compileNeedles } from './redaction/needle-search.js'
import type { NeedleSet } from './redaction/needle-search.js'
import { literalNeedles, needlesOf, searchedNeedles } from './redaction/needles.js'
import type { Valued } from './credentials/inject.js'
import type { Secret } from './credentials/secret.js'
import { sentTexts } from './credentials/secret-texts.js'
import { createJudge } from './rules/judge.js'
import type { Judge } from './rules/judge.js'

/** What one call may do on the network, and whom it is there. */
export interface CallRights {
  readonly callId: string
  readonly network: Pick<Boundary, 'network' | 'egressClass'>
  /** Without a recorded approval a call of the class `write` only reads. */
  readonly writeApproval: 'recorded' | 'none'
  readonly credentials: readonly Credential[]
  /** Names to which the operator gave an address (`--resolve`). */
  readonly pins: ReadonlyMap<string, readonly IpAddress[]>
}

export interface ActiveCall {
  readonly rights: CallRights
  readonly judge: Judge
  /** Of what one policy of the call allows by itself. */
  readonly judgeOf: (scope: RequestScope) => Judge
  /** What these values are recognised by. Made once, and again when a value is a new one. */
  readonly needles: (secrets: readonly Secret[], valued: readonly Valued[]) => NeedleSet | undefined
  nextConnection: number
  isOver: boolean
}

export const createCall = (rights: CallRights): ActiveCall => {
  // By value and by how it is put in: what comes back of a value depends on both.
  const made = new WeakMap<
    Secret,
    {
      readonly secrets: readonly Secret[]
      readonly credentials: readonly Credential[]
      readonly set: NeedleSet | undefined
    }
  >()
  const judges = new Map<RequestScope, Judge>()
  const judgeOf = (scope: RequestScope): Judge => {
    const judge = judges.get(scope) ?? createJudge({ network: scope, writeApproval: rights.writeApproval })
    judges.set(scope, judge)
    return judge
  }
  return {
    rights,
    judge: createJudge(rights),
    judgeOf,
    needles: (secrets, valued) => {
      const [first] = secrets
      if (first === undefined) return undefined
      const known = made.get(first)
      const credentials = valued.map(({ credential }) => credential)
      if (known !== undefined && isSame(known.secrets, secrets) && isSame(known.credentials, credentials))
        return known.set
      // Everything that a value may be recognised by: its parts, too, and what is made of it.
      const texts = valued.flatMap(sentTexts)
      const set = compileNeedles(
        texts.flatMap(searchedNeedles),
        texts.flatMap(needlesOf).flatMap((bytes) => literalNeedles([bytes])),
      )
      made.set(first, { secrets, credentials, set })
      return set
    },
    nextConnection: 1,
    isOver: false,
  }
}

const isSame = (left: readonly object[], right: readonly object[]): boolean =>
  left.length === right.length && left.every((each, at) => each === right[at])
