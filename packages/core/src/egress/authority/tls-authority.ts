import { generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'

import { renderHost } from '../../policy/index.js'
import type { RequestHost } from '../../policy/index.js'

import { authorityCertificate, serverCertificate } from './certificate.js'
import type { Signer } from './certificate.js'

/** Issues certificates for all hosts, for the tools of one runtime. Its keys are in memory only. */
export interface TlsAuthority {
  readonly certificate: string
  readonly contextFor: (host: RequestHost) => SecureContext
}

interface TlsAuthoritySettings {
  readonly now?: () => number
  readonly cacheSize?: number
}

const HOUR = 3_600_000
const AUTHORITY_LIFE = 30 * 24 * HOUR
const SERVER_LIFE = 48 * HOUR
/** Clocks inside a virtual machine may lag behind. */
const BEFORE = 24 * HOUR
const RENEW_BEFORE = 12 * HOUR

interface Issued {
  readonly context: SecureContext
  readonly renewAt: number
}

export const createTlsAuthority = ({ now = Date.now, cacheSize = 1_000 }: TlsAuthoritySettings = {}): TlsAuthority => {
  const signer: Signer = { name: 'Cordon, for one runtime', ...newKeys() }
  const certificate = authorityCertificate(signer, {
    from: new Date(now() - BEFORE),
    until: new Date(now() + AUTHORITY_LIFE),
  })
  // One key for all servers: a reader of one could read the authority's too.
  const serverKeys = newKeys()
  const key = serverKeys.privateKey.export({ type: 'pkcs8', format: 'pem' })
  const issued = new Map<string, Issued>()

  const issue = (host: RequestHost): Issued => {
    const validity = { from: new Date(now() - BEFORE), until: new Date(now() + SERVER_LIFE) }
    const cert = serverCertificate(host, serverKeys.publicKey, signer, validity) + certificate
    return {
      context: createSecureContext({ key, cert, minVersion: 'TLSv1.2' }),
      renewAt: now() + SERVER_LIFE - RENEW_BEFORE,
    }
  }
  return {
    certificate,
    contextFor: (host) => {
      const name = renderHost(host)
      const known = issued.get(name)
      const current = known !== undefined && known.renewAt > now() ? known : issue(host)
      // Put in again, so that the names are in the order of their last use.
      issued.delete(name)
      issued.set(name, current)
      const [oldest] = issued.keys()
      if (issued.size > cacheSize && oldest !== undefined) issued.delete(oldest)
      return current.context
    },
  }
}

const newKeys = (): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
