// Credentials of a team, stored sealed: the database and `cordon serve` cannot read them. Only the command line of an
// admin, which seals, and hosts that run tools, which open, have the key.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

import { fail } from '../../errors/errors.js'
import type { Queryable } from '../engine.js'
import { callFunction, listFrom } from './statements.js'
import { CREDENTIAL } from './team-answers.js'
import type { StoredCredential } from './team-answers.js'

export interface SealedCredential {
  readonly sealed: string
  readonly keyId: string
}

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export const newSealingKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

/** Reads the text of a key file. */
export const parseSealingKey = (text: string, where: string): Buffer => {
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length !== KEY_BYTES || key.toString('base64url') !== text.trim())
    throw fail('sealing-key-invalid', { problem: `${where} is not a key that cordon team credentials key made` })
  return key
}

/** Binds a sealed value to its team and name, so that nobody can swap two of them in the database. */
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
      { problem: `the credential ${ref} of ${team} was changed, or sealed with another key (not ${keyIdOf(key)})` },
      error,
    )
  }
}

export const listCredentials: (asking: Queryable, team: string) => Promise<readonly StoredCredential[]> = listFrom(
  CREDENTIAL,
  'agents.credentials where owner = $1 order by ref',
)

/** Only for the service, and for a runner whose current call needs it. */
export const resolveCredential = (session: Queryable, owner: string, ref: string): Promise<string> =>
  callFunction(session, 'fn_resolve_credential', { owner, ref })
