// A browser: follows redirects and keeps cookies. Names of tests lead to this machine.
import { request as requestPlain } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as requestTls } from 'node:https'

import { serverAuthority } from '../../../core/test/egress/servers.js'

export interface Visited {
  readonly status: number
  /** The last address. */
  readonly url: URL
}

/** Goes on until a page does not redirect, or `stop` is true of an address, which it then does not open. */
export const browse = async (start: URL, stop: (url: URL) => boolean = () => false): Promise<Visited> => {
  const cookies = new Map<string, string>()
  let url = start
  for (let hop = 0; hop < 20; hop++) {
    if (stop(url)) return { status: 0, url }
    const answer = await get(url, [...cookies].map((pair) => pair.join('=')).join('; '))
    for (const cookie of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const { location } = answer.headers
    if (location === undefined) return { status: answer.statusCode ?? 0, url }
    url = new URL(location, url)
  }
  throw new Error(`too many redirects: ${url.href}`)
}

/** The redirect of a login, which is not opened. */
export const redirectOf = async (start: URL): Promise<URL> =>
  (await browse(start, ({ hostname }) => hostname === '127.0.0.1')).url

const get = (url: URL, cookie: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const isTls = url.protocol === 'https:'
    const request = (isTls ? requestTls : requestPlain)({
      host: '127.0.0.1',
      port: url.port,
      path: `${url.pathname}${url.search}`,
      agent: false,
      headers: { host: url.host, ...(cookie === '' ? {} : { cookie }) },
      ...(isTls ? { servername: url.hostname, ca: serverAuthority.certificate } : {}),
    })
    request.once('response', (response) => {
      response.resume().once('end', () => {
        resolve(response)
      })
    })
    request.once('error', reject)
    request.end()
  })
