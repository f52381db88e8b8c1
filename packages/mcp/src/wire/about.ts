// The request that a question of a server belongs to, inside of the gateway. No server can set it, because readers of
// lines remove keys of Cordon.
import { OWN_PREFIX, fieldsOf } from './messages.js'
import type { Fields } from './messages.js'

export interface About {
  readonly request: unknown
  /** The name that the server gave the question. */
  readonly key: string
}

const KEY = `${OWN_PREFIX}about`

/** Takes it from the params of a question. */
export const aboutOf = (params: Fields): { readonly about: About | undefined; readonly params: Fields } => {
  const { _meta, ...own } = params
  const { [KEY]: about, ...meta } = fieldsOf(_meta)
  return { about: about as About | undefined, params: Object.keys(meta).length === 0 ? own : { ...own, _meta: meta } }
}

export const withAbout = (params: Fields, about: About): Fields => ({
  ...params,
  _meta: { ...fieldsOf(params['_meta']), [KEY]: about },
})
