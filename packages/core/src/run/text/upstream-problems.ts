// Problems with granted servers. Programs often print only "502", or ignore the problem.
import { isIP } from 'node:net'

import { isWebPort } from '../../policy/index.js'
import type { EgressSummary, ReachedHost } from '../../runtime/events/index.js'

/** One line for each host and problem, with a fix. */
export const upstreamProblems = (reached: EgressSummary | null): readonly string[] =>
  (reached?.hosts ?? []).flatMap((host) => host.problems.flatMap((problem) => describe(host, problem)))

const describe = ({ host, port }: ReachedHost, problem: string): readonly string[] => {
  const place = `${host}:${String(port)}`
  switch (problem) {
    case 'upstream-untrusted':
      return [
        `the certificate of ${place} is not trusted: if that host uses a private certificate authority, add ` +
          '--upstream-ca FILE with its certificate in PEM',
      ]
    case 'upstream-unresolved':
      return [`the name ${host} cannot be resolved: check its spelling, or give its address: --resolve ${host}=ADDRESS`]
    case 'upstream-unreachable':
      return [
        `${place} cannot be reached: check that the host is ` +
          `up${isIP(host.replace(/^\[|\]$/g, '')) === 0 ? `, or give its address: --resolve ${host}=ADDRESS` : ''}`,
      ]
    case 'upstream-broke':
      return [`${place} closed the connection in the middle of a response`]
    case 'answer-malformed':
      return [`a response of ${place} was invalid or ambiguous, and was not passed on; the request had been sent`]
    case 'proxy-untrusted':
      return [
        `the command does not trust the certificate of Cordon's proxy for ${place}: make it trust the file ` +
          'in SSL_CERT_FILE, or pass its TLS through unread, in a policy: network: [{ host: ' +
          `${JSON.stringify(isWebPort(port) ? host : place)}, action: direct }]`,
      ]
    case 'response-unreadable':
      return [`a response of ${place} could not be searched for the credential, and was not passed on`]
    case 'credential-unusable':
      return [`a credential could not be added to a request to ${place}`]
    default:
      // Caused by the tool, or by the end of the call.
      return []
  }
}
