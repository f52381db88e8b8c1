// Tokens are made here and shown once. The database has only their hashes.
import { createHash, randomBytes } from 'node:crypto'

import type { Queryable } from '../engine.js'
import { callFunction, listFrom } from './statements.js'
import { ISSUED_TOKEN } from './team-answers.js'
import type { MemberKind, NewToken } from './team-answers.js'

/** People and secret scanners know a token by it. */
const PREFIX = 'cordon_'
const SHAPE = /^cordon_[A-Za-z0-9_-]{43}$/

export const createToken = async (
  session: Queryable,
  owner: string,
  actor: string,
  { label, days = 90 }: { readonly label?: string; readonly days?: number } = {},
): Promise<NewToken> => {
  const token = PREFIX + randomBytes(32).toString('base64url')
  const given = { owner, actor, hash: hashOf(token), label, valid: `${String(days)} days` }
  return { id: await callFunction(session, 'fn_create_token', given), token }
}

export const listTokens = listFrom(ISSUED_TOKEN, 'agents.tokens where owner = $1 order by created_at', {
  team: 'owner',
})

/** The member that a token stands for. */
export interface TokenHolder {
  /** The id of the token, which is not secret. */
  readonly id: string
  readonly team: string
  readonly actor: string
  readonly kinds: readonly MemberKind[]
}

/** Only a gateway may call this. Undefined where the token is not valid, for any reason. */
export const authenticate = async ({ query }: Queryable, token: string): Promise<TokenHolder | undefined> => {
  // Looked up by its hash, so that the time it takes says nothing about existing tokens.
  if (!SHAPE.test(token)) return undefined
  return (
    await query<TokenHolder>('select id, owner as team, actor, kinds from agents.fn_authenticate($1)', [hashOf(token)])
  )[0]
}

export const countTokens = (session: Queryable): Promise<number> => callFunction(session, 'fn_count_tokens')

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
