// Tokens are made here and shown once; the database has their hashes.
import { createHash, randomBytes } from 'node:crypto'

import type { Session } from '../engine.js'
import type { MemberKind } from './registry.js'

type Asking = Pick<Session, 'query'>

/** A beginning by which people and scanners of secrets know what it is. */
const PREFIX = 'cordon_'
const SHAPE = /^cordon_[A-Za-z0-9_-]{43}$/

export interface NewToken {
  readonly id: string
  /** Told here and never again. */
  readonly token: string
}

export interface IssuedToken {
  readonly id: string
  readonly team: string
  readonly actor: string
  readonly label: string
  readonly createdBy: string
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

export const createToken = async (
  { query }: Asking,
  team: string,
  actor: string,
  { label = '', days = 90 }: { readonly label?: string; readonly days?: number } = {},
): Promise<NewToken> => {
  const token = PREFIX + randomBytes(32).toString('base64url')
  const [row] = await query<{ id: string }>('select agents.fn_create_token($1, $2, $3, $4, $5::interval) as id', [
    team,
    actor,
    hashOf(token),
    label,
    `${String(days)} days`,
  ])
  return { id: row?.id ?? '', token }
}

export const listTokens = ({ query }: Asking, team: string): Promise<readonly IssuedToken[]> =>
  query(
    `select id, owner as team, actor, label, created_by as "createdBy", created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"
      from agents.tokens where owner = $1 order by created_at`,
    [team],
  )

export const revokeToken = async ({ query }: Asking, id: string): Promise<void> => {
  await query('select agents.fn_revoke_token($1)', [id])
}

/** For whom a token speaks, and as what. */
export interface TokenHolder {
  /** Of the token: it says nothing about the secret. */
  readonly id: string
  readonly team: string
  readonly actor: string
  readonly kinds: readonly MemberKind[]
}

/** Only a gateway may ask. Undefined: for nobody, whatever the reason. */
export const authenticate = async ({ query }: Asking, token: string): Promise<TokenHolder | undefined> => {
  // Looked up by its hash, so that how long it takes says nothing about those that exist.
  if (!SHAPE.test(token)) return undefined
  return (
    await query<TokenHolder>('select id, owner as team, actor, kinds from agents.fn_authenticate($1)', [hashOf(token)])
  )[0]
}

export const countTokens = async ({ query }: Asking): Promise<number> =>
  (await query<{ usable: number }>('select agents.fn_count_tokens() as usable'))[0]?.usable ?? 0

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
