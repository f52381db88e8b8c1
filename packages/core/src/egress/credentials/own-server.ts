import { fail } from '../../errors/index.js'
import { coversDestination, parseDestination } from '../../policy/index.js'
import type { Credential } from '../../policy/index.js'

/**
 * The token of a login is for the server that it was issued for. A policy names the hosts that get a credential, so it
 * could name another one.
 */
export const requireOwnServer = ({ id, hosts, inject }: Credential, server: URL): void => {
  const source = `the login to ${server.origin}`
  const [own, exact] = [server.host, `${server.hostname}:${portOf(server)}`].map((each) =>
    parseDestination(each, source),
  )
  // Without a port a host has those of the web. `isOwnPort` then keeps the token from port 80.
  const isOwn = (host: Credential['hosts'][number]): boolean => {
    const outer = host.port.kind === 'web' ? own : exact
    return outer !== undefined && coversDestination(outer, host)
  }
  if (!hosts.every(isOwn))
    throw fail('credential-unusable', {
      credential: id,
      problem: `it is a login to ${server.origin}, and its policy would send it to another host`,
      fix: `name only the host of the server: hosts: ["${server.host}"]`,
    })
  if (inject.kind !== 'header')
    throw fail('credential-unusable', {
      credential: id,
      problem: 'the token of a login goes into a header only',
      fix: 'inject it into the header Authorization, as "Bearer {value}"',
    })
}

/** Whether a request to this port of the host is one to the server. */
export const isOwnPort = (server: URL, port: number): boolean => port === portOf(server)

const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))
