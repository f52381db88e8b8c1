import type { KeyObject } from 'node:crypto'
import { createHash, randomBytes, sign } from 'node:crypto'

import { renderHost } from '../../policy/index.js'
import type { IpAddress, RequestHost } from '../../policy/index.js'

import { bits, boolean, explicit, implicit, integer, objectId, octets, sequence, setOf, text, time } from './der.js'

export interface Validity {
  readonly from: Date
  readonly until: Date
}

export interface Signer {
  readonly name: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))
const COMMON_NAME = objectId('2.5.4.3')

/** A self-signed certificate of an authority that signs only servers. */
export const authorityCertificate = (signer: Signer, validity: Validity): string =>
  certificate(signer, signer, validity, [
    extension('2.5.29.19', sequence(boolean(true), integer(Buffer.from([0]))), 'critical'),
    // keyCertSign
    extension('2.5.29.15', bits(Buffer.from([0x04]), 2), 'critical'),
    extension('2.5.29.14', octets(keyId(signer.publicKey))),
  ])

export const serverCertificate = (
  host: RequestHost,
  publicKey: KeyObject,
  signer: Signer,
  validity: Validity,
): string => {
  const subjectName =
    host.kind === 'name' ? implicit(2, Buffer.from(host.name, 'ascii')) : implicit(7, addressBytes(host.address))
  return certificate({ name: renderHost(host), publicKey }, signer, validity, [
    extension('2.5.29.19', sequence(), 'critical'),
    // digitalSignature
    extension('2.5.29.15', bits(Buffer.from([0x80]), 7), 'critical'),
    extension('2.5.29.37', sequence(objectId('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.17', sequence(subjectName)),
    extension('2.5.29.14', octets(keyId(publicKey))),
    extension('2.5.29.35', sequence(implicit(0, keyId(signer.publicKey)))),
  ])
}

const certificate = (
  subject: Pick<Signer, 'name' | 'publicKey'>,
  signer: Signer,
  validity: Validity,
  extensions: readonly Buffer[],
): string => {
  const body = sequence(
    // version 3
    explicit(0, integer(Buffer.from([2]))),
    // Unique and positive: the highest bit is not set, the next one is.
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    distinguishedName(signer.name),
    sequence(time(validity.from), time(validity.until)),
    distinguishedName(subject.name),
    subject.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  )
  return pem(sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, signer.privateKey))))
}

/** A common name has at most 64 characters. Clients check the name in the extension. */
const distinguishedName = (name: string): Buffer => sequence(setOf(sequence(COMMON_NAME, text(name.slice(0, 64)))))

const extension = (id: string, value: Buffer, weight: 'critical' | 'plain' = 'plain'): Buffer =>
  sequence(objectId(id), ...(weight === 'critical' ? [boolean(true)] : []), octets(value))

const keyId = (publicKey: KeyObject): Buffer =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20)

const addressBytes = ({ family, value }: IpAddress): Buffer =>
  Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex')

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ` +
  `CERTIFICATE-----\n`
