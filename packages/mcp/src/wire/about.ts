// The request that a question of a server belongs to, inside of the gateway. No server can set it, because readers of
// lines remove keys of Cordon.
import { OWN_PREFIX, metaOf, withMeta, withoutMeta } from './messages.js'
import type { Fields } from './messages.js'

export interface About {
  readonly request: unknown
  /** The name that the server gave the question. */
  readonly key: string
}

const KEY = `${OWN_PREFIX}about`

/** Takes it from the params of a question. */
export const aboutOf = (params: Fields): { readonly about: About | undefined; readonly params: Fields } => ({
  about: metaOf(params)[KEY] as About | undefined,
  params: withoutMeta(params, [KEY]),
})

export const withAbout = (params: Fields, about: About): Fields => withMeta(params, { [KEY]: about })
