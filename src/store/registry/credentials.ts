// Credentials that a team keeps in its store, sealed: the database and `cordon serve` have what they cannot read. The
// key is with those who seal (an admin's command line) and those who open (hosts that run tools).
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

import { fail } from '../../errors/index.js'

import type { Session } from '../engine.js'

type Asking = Pick<Session, 'query'>

export interface StoredCredential {
  readonly ref: string
  readonly keyId: string
  readonly storedBy: string
  readonly storedAt: Date
}

export interface SealedCredential {
  readonly sealed: string
  readonly keyId: string
}

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export const newSealingKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

/** A key as it is written in its file. */
export const parseSealingKey = (text: string, where: string): Buffer => {
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length !== KEY_BYTES || key.toString('base64url') !== text.trim())
    throw fail('sealing-key-invalid', { problem: `${where} is not a key that cordon credentials key made` })
  return key
}

/**
 * A sealed value is bound to its team and name: nobody who can write to the database puts one in the place of another.
 */
const contextOf = (team: string, ref: string): Buffer =>
  Buffer.from(JSON.stringify(['cordon credential', team, ref]), 'utf8')

const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update('cordon sealing key').update(key).digest('hex').slice(0, 16)

export const sealCredential = (key: Buffer, team: string, ref: string, value: Buffer): SealedCredential => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(contextOf(team, ref))
  const content = Buffer.concat([cipher.update(value), cipher.final()])
  return { sealed: Buffer.concat([nonce, content, cipher.getAuthTag()]).toString('base64url'), keyId: keyIdOf(key) }
}

export const openCredential = (key: Buffer, team: string, ref: string, sealed: string): Buffer => {
  const bytes = Buffer.from(sealed, 'base64url')
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(contextOf(team, ref))
      .setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch (error) {
    throw fail(
      'sealing-key-invalid',
      {
        problem: `the credential ${ref} of ${team} was sealed with another key (this one is ${keyIdOf(key)}), or was changed`,
      },
      error,
    )
  }
}

export const storeCredential = async (
  { query }: Asking,
  team: string,
  ref: string,
  { sealed, keyId }: SealedCredential,
): Promise<void> => {
  await query('select agents.fn_store_credential($1, $2, $3, $4)', [team, ref, sealed, keyId])
}

export const listCredentials = ({ query }: Asking, team: string): Promise<readonly StoredCredential[]> =>
  query(
    'select ref, key_id as "keyId", stored_by as "storedBy", stored_at as "storedAt" from agents.credentials ' +
      'where owner = $1 order by ref',
    [team],
  )

export const removeCredential = async ({ query }: Asking, team: string, ref: string): Promise<void> => {
  await query('select agents.fn_remove_credential($1, $2)', [team, ref])
}

/** Only for the service, and for a runner that runs a call which needs it. */
export const resolveCredential = async ({ query }: Asking, team: string, ref: string): Promise<string> =>
  (await query<{ sealed: string }>('select agents.fn_resolve_credential($1, $2) as sealed', [team, ref]))[0]?.sealed ??
  ''
