import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'

import { describe, expect, test } from 'vitest'

import { createTlsAuthority } from '../../src/egress/index.js'
import type { TlsAuthority } from '../../src/egress/index.js'
import { parseRequestHost } from '../../src/policy/index.js'
import { needs } from '../../../../test/requirement.js'

import { has, run } from './programs.js'

const hostOf = (name: string) => parseRequestHost(name) ?? expect.fail(name)

/** The certificate that a server of this host shows. */
const shown = async (authority: TlsAuthority, name: string): Promise<X509Certificate> => {
  const server = createServer({
    SNICallback: (_, answer) => {
      answer(null, authority.contextFor(hostOf(name)))
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const socket = await new Promise<TLSSocket>((resolve) => {
    const made = connect({ port, host: '127.0.0.1', servername: 'any.test', rejectUnauthorized: false }, () => {
      resolve(made)
    })
  })
  const certificate = socket.getPeerX509Certificate() ?? expect.fail()
  socket.destroy()
  server.close()
  return certificate
}

describe('the authority of a runtime', () => {
  test('is a P-256 authority that signs servers and nothing else', () => {
    const { certificate } = createTlsAuthority()
    const parsed = new X509Certificate(certificate)
    expect(parsed.ca).toBe(true)
    expect(parsed.publicKey.asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' })
    expect(parsed.verify(parsed.publicKey)).toBe(true)
    expect(certificate).not.toBe(createTlsAuthority().certificate)
  })

  test.each([
    ['api.example.org', 'DNS:api.example.org'],
    [`${'a'.repeat(60)}.${'b'.repeat(60)}.example.org`, `DNS:${'a'.repeat(60)}.${'b'.repeat(60)}.example.org`],
    ['10.1.2.3', 'IP Address:10.1.2.3'],
    ['2001:db8::1', 'IP Address:2001:DB8:0:0:0:0:0:1'],
  ])('signs a certificate for %s', async (name, subject) => {
    const authority = createTlsAuthority()
    const certificate = await shown(authority, name)
    expect(certificate.subjectAltName).toBe(subject)
    expect(certificate.ca).toBe(false)
    expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true)
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
  })

  test('makes certificates that openssl accepts in strict mode, and only under its own authority', async (context) => {
    needs(context, has('openssl'), 'openssl is not installed')
    const [authority, stranger] = [createTlsAuthority(), createTlsAuthority()]
    const folder = mkdtempSync(join(tmpdir(), 'cordon-authority-'))
    const put = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const leaf = put('leaf.pem', (await shown(authority, 'api.example.org')).toString())
    const verify = (ca: string, name: string) =>
      run('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', name, '-CAfile', ca, leaf])
    const ours = put('ca.pem', authority.certificate)
    expect(await verify(ours, 'api.example.org')).toMatchObject({ status: 0, errors: '' })
    expect((await verify(ours, 'other.example.org')).status).not.toBe(0)
    expect((await verify(put('stranger.pem', stranger.certificate), 'api.example.org')).status).not.toBe(0)
    expect((await run('openssl', ['verify', '-x509_strict', '-CAfile', ours, ours])).status).toBe(0)
    rmSync(folder, { recursive: true })
  })

  test('keeps a certificate while it is used, renews it in time, and drops the one unused for longest', () => {
    let now = Date.now()
    const authority = createTlsAuthority({ now: () => now, cacheSize: 2 })
    const [a, b] = [hostOf('a.test'), hostOf('b.test')]
    const first = authority.contextFor(a)
    authority.contextFor(b)
    expect(authority.contextFor(a)).toBe(first)
    authority.contextFor(hostOf('c.test'))
    expect(authority.contextFor(a)).toBe(first)
    now += 40 * 3_600_000
    expect(authority.contextFor(a)).not.toBe(first)
  })
})
