import { fail } from '../../errors/index.js'

import type { SecretHost } from './read-secret.js'
import { readSecret } from './read-secret.js'
import { Secret } from './secret.js'
import type { SecretSource } from './secret-source.js'

/** Secrets by credential id, read when needed and kept for a while. */
export interface SecretStore {
  readonly get: (credential: string) => Promise<Secret>
  /** The server rejected it: read it again next time. */
  readonly forget: (credential: string) => void
  readonly close: () => void
}

export interface SecretStoreSettings {
  readonly sources: ReadonlyMap<string, SecretSource>
  readonly host: SecretHost
  readonly now?: () => number
  /** How long a secret is kept if its source does not say. */
  readonly freshFor?: number
}

const FIVE_MINUTES = 300_000
/** A secret could expire on its way. */
const MARGIN = 10_000
const LEAST_AGE = 5_000

interface Kept {
  readonly secret: Secret
  readonly since: number
  readonly until: number
}

export const createSecretStore = ({
  sources,
  host,
  now = Date.now,
  freshFor = FIVE_MINUTES,
}: SecretStoreSettings): SecretStore => {
  const kept = new Map<string, Kept>()
  const reading = new Map<string, Promise<Secret>>()
  let isClosed = false

  const forget = (credential: string): void => {
    // A tool that provokes rejections must not cause endless reads.
    if (now() - (kept.get(credential)?.since ?? 0) < LEAST_AGE) return
    // Not erased: a request may still use it.
    kept.delete(credential)
  }
  const read = async (credential: string): Promise<Secret> => {
    const source = sources.get(credential)
    if (source === undefined) {
      throw fail('credential-missing', {
        credential,
        problem: 'nobody said where it comes from',
        fix:
          `say so: --secret ${credential}=env:NAME, or egress: { secrets: { "${credential}": "env:NAME" } } of ` +
          'createCordon(); also file:PATH, command:…, keyring:… or vault:…',
      })
    }
    const { bytes, expiresAt } = await readSecret(credential, source, host)
    const secret = new Secret(bytes)
    if (isClosed) {
      secret.erase()
      throw fail('egress-closed', {})
    }
    kept.set(credential, { secret, since: now(), until: Math.min(now() + freshFor, (expiresAt ?? Infinity) - MARGIN) })
    return secret
  }
  return {
    get: (credential) => {
      if (isClosed) return Promise.reject(fail('egress-closed', {}))
      const known = kept.get(credential)
      if (known !== undefined && known.until > now()) return Promise.resolve(known.secret)
      const running = reading.get(credential)
      if (running !== undefined) return running
      const begun = read(credential).finally(() => reading.delete(credential))
      reading.set(credential, begun)
      return begun
    },
    forget,
    close: () => {
      isClosed = true
      for (const { secret } of kept.values()) secret.erase()
      kept.clear()
    },
  }
}
