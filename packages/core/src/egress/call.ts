import type { Boundary, Credential, IpAddress, RequestScope } from '../policy/index.js'

import { compileNeedles } from './redaction/needle-search.js'
import type { NeedleSet } from './redaction/needle-search.js'
import { literalNeedles, needlesOf, searchedNeedles } from './redaction/needles.js'
import type { CredentialValue } from './credentials/draft.js'
import type { Secret } from './credentials/secret-store.js'
import { sentTexts } from './credentials/inject.js'
import { createJudge } from './rules/judge.js'
import type { Judge } from './rules/judge.js'

/** What one call may do on the network, and with which credentials. */
export interface CallRights {
  readonly callId: string
  readonly network: Pick<Boundary, 'network' | 'egressClass'>
  /** Without a recorded approval a call of the class `write` may only read. */
  readonly writeApproval: 'recorded' | 'none'
  readonly credentials: readonly Credential[]
  /** Addresses that the operator gave to names (`--resolve`). */
  readonly pins: ReadonlyMap<string, readonly IpAddress[]>
}

export interface ActiveCall {
  readonly rights: CallRights
  readonly judge: Judge
  /** Judges by one policy of the call alone. */
  readonly judgeOf: (scope: RequestScope) => Judge
  /** What answers are searched for. Made again only if a value changes. */
  readonly needles: (secrets: readonly Secret[], valued: readonly CredentialValue[]) => NeedleSet | undefined
  nextConnection: number
  isOver: boolean
}

export const createCall = (rights: CallRights): ActiveCall => {
  // By value and by injection: what may come back depends on both.
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
      // With the parts of a value, and what is made of it.
      const texts = valued.flatMap(sentTexts)
      const set = compileNeedles(texts.flatMap(searchedNeedles), literalNeedles(texts.flatMap(needlesOf)))
      made.set(first, { secrets, credentials, set })
      return set
    },
    nextConnection: 1,
    isOver: false,
  }
}

const isSame = (left: readonly object[], right: readonly object[]): boolean =>
  left.length === right.length && left.every((each, at) => each === right[at])
