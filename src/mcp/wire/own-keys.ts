// Keys of `_meta` by which Cordon tells clients of its decisions. A server must not be able to set one.
import { isMapping } from '../../shapes/index.js'

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (isMapping(value) ? value : {})

/** The prefix of the keys that Cordon sets. */
export const OWN_PREFIX = 'cordon/'

/** The request that a question of a server belongs to, inside of the gateway, and the name that the server gave it. */
export interface About {
  readonly request: unknown
  readonly key: string
}

const ABOUT = `${OWN_PREFIX}about`

/** Takes it from the params of a question. No server can set it. */
export const aboutOf = (params: Fields): { readonly about: About | undefined; readonly params: Fields } => {
  const { _meta, ...own } = params
  const { [ABOUT]: about, ...meta } = fieldsOf(_meta)
  return { about: about as About | undefined, params: Object.keys(meta).length === 0 ? own : { ...own, _meta: meta } }
}

export const withAbout = (params: Fields, about: About): Fields => ({
  ...params,
  _meta: { ...fieldsOf(params['_meta']), [ABOUT]: about },
})

const OWN = /^(?:[a-z0-9.-]*\.)?cordon(?:$|[/:.])/i

/** Deeper values could not be written again. */
const DEEPEST = 500

/** Changes the value, which was just parsed. `kept`: the keys stay, and only the depth is checked. */
export const stripOwnKeys = (value: unknown, own: 'removed' | 'kept'): 'done' | 'too-deep' => {
  let level: readonly object[] = isObject(value) ? [value] : []
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return 'too-deep'
    const next: object[] = []
    for (const each of level) {
      for (const child of Object.values(each)) if (isObject(child)) next.push(child)
      // Errors of Cordon have such keys in their data.
      const [meta, data] = own === 'kept' ? [] : [(each as Fields)['_meta'], (each as Fields)['data']]
      for (const place of [meta, data])
        if (isObject(place)) for (const key of Object.keys(place)) if (OWN.test(key)) Reflect.deleteProperty(place, key)
    }
    level = next
  }
  return 'done'
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
