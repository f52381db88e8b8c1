// Servers that were granted and could not be used: a program that gets the proxy's answer for them often says no more
// than "502", or calls that a success.
import { isIP } from 'node:net'

import { isWebPort } from '../../policy/index.js'
import type { EgressSummary, ReachedHost } from '../../runtime/events/index.js'

/** One line for each host and problem, with what would help. */
export const upstreamProblems = (reached: EgressSummary | null): readonly string[] =>
  (reached?.hosts ?? []).flatMap((host) => host.problems.flatMap((problem) => describe(host, problem)))

const describe = ({ host, port }: ReachedHost, problem: string): readonly string[] => {
  const place = `${host}:${String(port)}`
  switch (problem) {
    case 'upstream-untrusted':
      return [`the certificate of ${place} is not trusted: if that host has an authority of its own, add --upstream-ca FILE with its certificate in PEM`]
    case 'upstream-unresolved':
      return [`the name ${host} has no address that can be found here: see whether it is written correctly, or say where it is: --resolve ${host}=ADDRESS`]
    case 'upstream-unreachable':
      return [`${place} cannot be reached from here: see whether anybody answers there${isIP(host.replace(/^\[|\]$/g, '')) === 0 ? `, or say where it is: --resolve ${host}=ADDRESS` : ''}`]
    case 'upstream-broke':
      return [`${place} closed the connection in the middle of a response`]
    case 'answer-malformed':
      return [`an answer of ${place} could not be read in exactly one way, and was not passed on; the request had been sent`]
    case 'proxy-untrusted':
      return [`the command does not trust the certificate of Cordon's proxy for ${place}: let it trust the file that SSL_CERT_FILE names, or let its TLS pass unread, in a policy: network: [{ host: ${JSON.stringify(isWebPort(port) ? host : place)}, action: direct }]`]
    case 'response-unreadable':
      return [`an answer of ${place}, which has a credential, could not be searched for it, and was not passed on`]
    case 'credential-unusable':
      return [`a credential could not be put into a request to ${place}`]
    default:
      // Of the tool's own making, or of the end of the call.
      return []
  }
}
