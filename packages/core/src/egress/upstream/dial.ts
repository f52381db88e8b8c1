import { isIP, connect } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import nodeTls, { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls'
import type { SecureContext, TLSSocket } from 'node:tls'

import { codeOf, fail, messageOf } from '../../errors/index.js'
import { renderHost, renderIpAddress } from '../../policy/index.js'
import type { IpAddress } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'
import { renderEndpoint } from '../endpoint.js'

const DIAL_TIMEOUT = 30_000

const problemOf = (error: unknown): string => codeOf(error) ?? messageOf(error)

/** The keeper of an outer cell accepts connections here (native/keeper/network/broker.c). */
const OUTER_DOOR = ['127.0.0.1', '::ffff:127.0.0.1']

/** Connects to one of the given addresses. No name is resolved again. */
export const dial = (endpoint: Endpoint, addresses: readonly IpAddress[], isNested: boolean): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const texts = addresses.map(renderIpAddress)
    const answers = texts.map((address) => ({ address, family: isIP(address) }))
    // All of them: autoSelectFamily tries IPv6 and IPv4 in turn.
    const lookup: LookupFunction = (_name, _options, answer) => {
      answer(null, answers)
    }
    const socket = connect({
      host: 'checked.invalid',
      port: endpoint.port,
      lookup,
      autoSelectFamily: true,
      noDelay: true,
      allowHalfOpen: true,
    })
    const refuse = (problem: string, cause?: unknown): void => {
      socket.destroy()
      reject(fail('upstream-unreachable', { host: renderEndpoint(endpoint), problem }, cause))
    }
    const onError = (error: Error): void => {
      refuse(problemOf(error), error)
    }
    const timer = setTimeout(() => {
      refuse('it does not answer')
    }, DIAL_TIMEOUT)
    socket.once('error', onError)
    socket.once('close', () => {
      clearTimeout(timer)
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      const reached = isNested ? [...texts, ...OUTER_DOOR] : texts
      if (socket.remoteAddress === undefined || !reached.includes(socket.remoteAddress)) {
        refuse('it is connected to something else')
        return
      }
      socket.off('error', onError)
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })

/** Shown to a server that asks for it. */
export interface ClientCertificate {
  readonly id: string
  readonly certificate: string
  readonly privateKey: string
}

export type SecureUpstream = (
  socket: Socket,
  endpoint: Endpoint,
  options: { readonly protocols: readonly string[]; readonly client: ClientCertificate | undefined },
) => Promise<TLSSocket>

/**
 * One record of TLS: more is not faster, and is held for every tool that does not read. The types lack this option, but
 * every TLS socket takes it.
 */
export const BUFFERED = { highWaterMark: 1 << 14 }

const MOST_SESSIONS = 1_000

/** TLS to servers, verified against the usual authorities and the given ones. */
export const createSecureUpstream = (extraAuthorities: readonly string[]): SecureUpstream => {
  const authorities = extraAuthorities.length === 0 ? {} : { ca: [...usualAuthorities(), ...extraAuthorities] }
  // Made once, because reading the authorities takes milliseconds.
  const plain = createSecureContext({ ...authorities, minVersion: 'TLSv1.2' })
  const withClient = new WeakMap<ClientCertificate, SecureContext>()
  const contextFor = (client: ClientCertificate | undefined): SecureContext => {
    if (client === undefined) return plain
    const context =
      withClient.get(client) ??
      createSecureContext({ ...authorities, minVersion: 'TLSv1.2', cert: client.certificate, key: client.privateKey })
    withClient.set(client, context)
    return context
  }
  const sessions = new Map<string, Buffer>()

  return (socket, endpoint, { protocols, client }) =>
    new Promise((resolve, reject) => {
      const host = renderHost(endpoint.host)
      const key = `${renderEndpoint(endpoint)} ${client?.id ?? ''} ${protocols.join()}`
      const session = client === undefined ? sessions.get(key) : undefined
      const tls = connectTls({
        socket,
        // A bare address is in the certificate, but never in SNI.
        ...(endpoint.host.kind === 'name' ? { servername: host } : { host }),
        secureContext: contextFor(client),
        ALPNProtocols: [...protocols],
        rejectUnauthorized: true,
        ...BUFFERED,
        ...(session === undefined ? {} : { session }),
      })
      const timer = setTimeout(() => {
        tls.destroy(new Error('it does not answer'))
      }, DIAL_TIMEOUT)
      const onError = (error: Error): void => {
        clearTimeout(timer)
        sessions.delete(key)
        tls.destroy()
        socket.destroy()
        const problem = problemOf(error)
        reject(
          DISTRUST.test(problem)
            ? fail('upstream-untrusted', { host, problem }, error)
            : fail('upstream-unreachable', { host: renderEndpoint(endpoint), problem }, error),
        )
      }
      tls.once('error', onError)
      tls.on('session', (ticket) => {
        if (sessions.size >= MOST_SESSIONS) sessions.clear()
        sessions.set(key, ticket)
      })
      tls.once('secureConnect', () => {
        clearTimeout(timer)
        tls.off('error', onError)
        tls.on('error', () => undefined)
        resolve(tls)
      })
    })
}

/** With NODE_EXTRA_CA_CERTS, which names the authority of an outer cell, if Node tells them (since 22.15). */
const usualAuthorities = (): readonly string[] => {
  const { getCACertificates } = nodeTls as { readonly getCACertificates?: (type: 'default') => readonly string[] }
  return getCACertificates?.('default') ?? rootCertificates
}

const DISTRUST = /CERT|ALTNAME|SELF_SIGNED|ISSUER|SIGNATURE|CRL/
