import { createHash } from 'node:crypto'
import { createSecureContext } from 'node:tls'

import { fail } from '../../errors/index.js'
import type { ClientCertificate } from '../upstream/dial.js'

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g
const KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S])*?-----END (?:[A-Z]+ )?PRIVATE KEY-----/

/** Reads a certificate, its chain and its key from PEM. */
export const readClientCertificate = (credential: string, value: string): ClientCertificate => {
  const certificate = Array.from(value.matchAll(CERTIFICATES), ([text]) => text).join('\n')
  const [privateKey] = KEY.exec(value) ?? []
  if (certificate === '' || privateKey === undefined)
    throw fail('credential-unusable', {
      credential,
      problem: 'its value is not a certificate and its private key in PEM',
      fix:
        'put both into one file (cat client.crt client.key > client.pem), and name that as its source: ' +
        'file:client.pem',
    })
  // Connections are kept apart by certificate. A renewed one is another.
  const id = `${credential} ${createHash('sha256').update(certificate).digest('hex').slice(0, 16)}`
  return { id, certificate, privateKey }
}

export const requireMatchingKey = (credential: string, { certificate, privateKey }: ClientCertificate): void => {
  try {
    createSecureContext({ cert: certificate, key: privateKey })
  } catch {
    // The cause may quote the value.
    throw fail('credential-unusable', {
      credential,
      problem: 'its certificate or its key cannot be read, or they do not belong to each other',
      fix: 'take the key (without a password) and the certificate that was made for it',
    })
  }
}
