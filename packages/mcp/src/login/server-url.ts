import { isThisMachine } from 'cordon/egress'

import { fail } from '../errors/errors.js'

/** The URL of a remote server. Plain HTTP only to an address of this machine. */
export const parseServerUrl = (text: string): URL => {
  const wrong = (problem: string, fix: string) => fail('usage-error', { problem: `${text}: ${problem}`, fix })
  if (!URL.canParse(text)) throw wrong('this is not a URL', 'write it like https://mcp.example.org/mcp')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isThisMachine(url)))
    throw wrong('a server needs https', 'only a server at 127.0.0.1 or [::1] may have http')
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw wrong('it contains a password or a fragment', `write ${url.origin}${url.pathname}`)
  return url
}
