// The address of a server, and whether it is safe to listen there.
import { isIPv4, isIPv6 } from 'node:net'
import type { Server } from 'node:http'

import { fail } from '../errors/index.js'
import { isLoopback, parseIpAddress } from '../policy/index.js'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** `127.0.0.1:7070`, `[::1]:7070`, `localhost:7070`. */
export const parseListenAddress = (text: string): ListenAddress => {
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = plain === 'localhost' ? '127.0.0.1' : (bracketed ?? plain ?? '')
  const isAddress = bracketed === undefined ? isIPv4(host) : isIPv6(host)
  if (!isAddress || Number(digits) > 65_535)
    throw fail('listen-refused', {
      where: text,
      problem: 'it is no address with a port',
      fix: 'write it like 127.0.0.1:7070 or [::1]:7070',
    })
  return { host, port: Number(digits) }
}

/** Whether only this machine reaches a server there. */
export const isLoopbackHost = (host: string): boolean => {
  const address = parseIpAddress(host)
  return address !== undefined && isLoopback(address)
}

interface Exposure {
  readonly hasTls: boolean
  /** The user says that a proxy encrypts. */
  readonly allowsPlainHttp: boolean
  readonly usableTokens: number
}

/** Refuses plain HTTP beyond this host. Checked before the store is opened. */
export const requireEncrypted = (
  address: ListenAddress,
  { hasTls, allowsPlainHttp }: Omit<Exposure, 'usableTokens'>,
): void => {
  if (!isLoopbackHost(address.host) && !hasTls && !allowsPlainHttp)
    throw fail('listen-refused', {
      where: renderAddress(address),
      problem: 'tokens would go over the network in the clear',
      fix:
        'use --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that encrypts; where that proxy ' +
        'is on another host: --plain-http',
    })
}

/** Also refuses a server beyond this host without any token. */
export const requireSafe = (address: ListenAddress, exposure: Exposure): void => {
  requireEncrypted(address, exposure)
  if (!isLoopbackHost(address.host) && exposure.usableTokens === 0)
    throw fail('listen-refused', {
      where: renderAddress(address),
      problem: 'there is no token yet by which anybody could be known',
      fix: 'make one first: cordon team tokens create',
    })
}

export const renderAddress = ({ host, port }: ListenAddress): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`

/** Resolves to the port, which differs from that of the address if that is 0. */
export const listenOnAddress = (server: Server, { host, port }: ListenAddress): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        fail(
          'listen-refused',
          { where: renderAddress({ host, port }), problem: error.message, fix: 'name another address with --listen' },
          error,
        ),
      )
    })
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
