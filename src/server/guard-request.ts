// Whether a request comes from where requests should come from, before anything of it is believed. A browser is made to
// send requests by any page that it shows: to a name that the page's owner lets point here (Host), or from its own
// origin (Origin, Sec-Fetch-Site). Neither is a program that somebody gave a token to.
import type { IncomingMessage } from 'node:http'

import { fail } from '../errors/index.js'

export interface Door {
  readonly kind: 'tcp' | 'socket'
  /** Values of Host that mean this server, in lower case, with their port. */
  readonly hosts: ReadonlySet<string>
  /** Pages that may ask: those that this server itself serves. */
  readonly origins: ReadonlySet<string>
}

const FOREIGN = 'the request comes from a page of another site'

export const guardRequest = (
  { rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  { hosts, origins }: Door,
): void => {
  const named = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host')
  const [host, ...more] = named
  if (host === undefined || more.length > 0)
    throw fail('request-invalid', {
      problem: 'it has not exactly one Host',
      fix: 'send one, with the address that the server told when it started',
    })
  if (!hosts.has(host.toLowerCase()))
    throw fail('request-refused', {
      problem: `Host is ${JSON.stringify(host.slice(0, 200))}, which this server does not go by`,
      fix: 'use the address that the server told when it started, or start it with --host NAME',
    })
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && !origins.has(origin.toLowerCase()))
    throw fail('request-refused', { problem: FOREIGN, fix: 'ask with a program instead' })
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw fail('request-refused', { problem: FOREIGN, fix: 'ask with a program instead' })
}
