import { malformed } from './message-head.js'
import type { RequestHead } from './message-head.js'
import type { Scheme } from './exchange.js'

export interface RequestTarget {
  /** Undefined if only a path was sent. */
  readonly url: { readonly scheme: Scheme; readonly authority: string } | undefined
  /** Path and query, or `*`. */
  readonly path: string
}

const ABSOLUTE = /^(?<scheme>[a-z]+):\/\/(?<authority>[^/?]*)(?<path>.*)$/i

/** The target of any request but CONNECT. */
export const parseTarget = ({ method, target }: Pick<RequestHead, 'method' | 'target'>): RequestTarget => {
  if (target.startsWith('/')) return { url: undefined, path: target }
  if (target === '*' && method === 'OPTIONS') return { url: undefined, path: target }
  const { scheme, authority, path } = ABSOLUTE.exec(target)?.groups ?? {}
  const known = scheme?.toLowerCase()
  if (authority === undefined || path === undefined || (known !== 'http' && known !== 'https'))
    throw malformed('tool', 'the URL is neither a path nor one of http or https')
  if (authority.includes('@')) throw malformed('tool', 'the URL contains a user name')
  return { url: { scheme: known, authority }, path: path.startsWith('/') ? path : `/${path}` }
}
