// Keys of `_meta` by which Cordon tells clients of its decisions. A server must not be able to set one.
import { namesCordon } from '../consent/look-alike.js'

/** The prefix of the keys that Cordon sets. */
export const OWN_PREFIX = 'cordon/'

/** A prefix and a name have at most 63 letters each. Longer keys cost time to judge, and are removed too. */
const LONGEST_KEY = 256

/** By its prefix, also in letters that look like ours. */
const isOwn = (key: string): boolean => key.length > LONGEST_KEY || namesCordon(key.split(/[/:]/, 1)[0])

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
      const { _meta, data } = each as { readonly _meta?: unknown; readonly data?: unknown }
      for (const place of own === 'removed' ? [_meta, data] : [])
        if (isObject(place)) for (const key of Object.keys(place)) if (isOwn(key)) Reflect.deleteProperty(place, key)
    }
    level = next
  }
  return 'done'
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
