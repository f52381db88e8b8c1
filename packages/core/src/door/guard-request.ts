// Refuses requests that a web page makes a browser send: to a foreign name that points to this server (Host), or from
// the page's own origin (Origin, Sec-Fetch-Site).
import type { IncomingMessage } from 'node:http'

import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'

export interface Door {
  readonly kind: 'tcp' | 'socket'
  /** Values of Host that mean this server, in lower case, with their port. */
  readonly hosts: ReadonlySet<string>
  /** Origins of pages that this server itself serves. */
  readonly origins: ReadonlySet<string>
}

export const guardRequest = (
  { rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  { hosts, origins }: Door,
): void => {
  const [host, ...more] = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host')
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
  const isForeign =
    (origin !== undefined && !origins.has(origin.toLowerCase())) ||
    (site !== undefined && site !== 'same-origin' && site !== 'none')
  if (isForeign)
    throw fail('request-refused', {
      problem: 'the request comes from a page of another site',
      fix: 'ask with a program instead',
    })
}

/** Without an async iterator: leaving it early would close the connection before the refusal is sent. */
export const bodyBytes = (request: IncomingMessage, mostBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer): void => {
      size += chunk.byteLength
      if (size <= mostBytes) chunks.push(chunk)
      else refuse(fail('request-too-large', { limit: mostBytes }))
    }
    const refuse = (error: CordonError): void => {
      request.off('data', take)
      chunks.length = 0
      reject(error)
    }
    request.on('data', take)
    request.on('end', () => {
      resolve(Buffer.concat(chunks))
    })
    // The client went away, or took too long.
    for (const event of ['error', 'close'] as const)
      request.on(event, () => {
        refuse(fail('request-invalid', { problem: 'its body ended too early', fix: 'send it whole' }))
      })
  })
