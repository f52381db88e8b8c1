import { fail } from '../../errors/index.js'
import { coversDestination, parseDestination } from '../../policy/index.js'
import type { Credential } from '../../policy/index.js'

/**
 * The token of a login is for the server that it was issued for. A policy names the hosts that get a credential, so it
 * could name another one.
 */
export const requireOwnServer = ({ id, hosts, inject }: Credential, server: URL): void => {
  const own = parseDestination(server.host, `the login to ${server.origin}`)
  if (!hosts.every((host) => coversDestination(own, host)))
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
