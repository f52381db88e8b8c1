import { generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'

import { renderIpAddress } from '../../policy/index.js'
import type { RequestHost } from '../../policy/index.js'

import { authorityCertificate, serverCertificate } from './certificate.js'
import type { Signer } from './certificate.js'

/** Speaks for every host towards the tools of one runtime. Its keys are in memory only and die with it. */
export interface TlsAuthority {
  /** What a cell has to trust, in PEM. */
  readonly certificate: string
  readonly contextFor: (host: RequestHost) => SecureContext
}

export interface TlsAuthoritySettings {
  readonly now?: () => number
  /** Hosts whose certificates are kept; the one used longest ago goes first. */
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

export const createTlsAuthority = ({ now = Date.now, cacheSize = 1000 }: TlsAuthoritySettings = {}): TlsAuthority => {
  const signer: Signer = { name: 'Cordon, for one runtime', ...newKeys() }
  const certificate = authorityCertificate(signer, {
    from: new Date(now() - BEFORE),
    until: new Date(now() + AUTHORITY_LIFE),
  })
  // One key for all servers: whoever could read one could read the authority's, too.
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
      const name = host.kind === 'name' ? host.name : renderIpAddress(host.address)
      const known = issued.get(name)
      const current = known !== undefined && known.renewAt > now() ? known : issue(host)
      // Taken out and put in again, the names stand in the order of their last use.
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
