import { createHash } from 'node:crypto'

import { fail } from '../../errors/index.js'
import type { ClientCertificate } from '../upstream/dial.js'

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g
const KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[\s\S]*?-----END (?:[A-Z]+ )?PRIVATE KEY-----/

/** A value in PEM that holds a certificate, those that it is signed by, and its key. */
export const readClientCertificate = (credential: string, value: string): ClientCertificate => {
  const certificate = Array.from(value.matchAll(CERTIFICATES), ([text]) => text).join('\n')
  const [privateKey] = KEY.exec(value) ?? []
  if (certificate === '' || privateKey === undefined) throw fail('credential-unusable', { credential, problem: 'its value is not a certificate and its private key in PEM' })
  // Connections are kept apart by who we are on them; a renewed certificate is somebody new.
  const id = `${credential} ${createHash('sha256').update(certificate).digest('hex').slice(0, 16)}`
  return { id, certificate, privateKey }
}
