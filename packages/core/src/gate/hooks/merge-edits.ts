import { canonicalJson, isMapping } from '../input/canonical-json.js'
import type { JsonValue } from '../input/json-value.js'

export interface Edit {
  readonly hook: string
  readonly value: JsonValue
}

type MergedEdits =
  | { readonly kind: 'merged'; readonly value: JsonValue }
  | { readonly kind: 'disagreement'; readonly key: string; readonly hooks: readonly string[] }

/**
 * Joins edits of different keys and equal edits. Different edits of one key are a disagreement, so that the order of
 * the hooks does not matter.
 */
export const mergeEdits = (base: JsonValue | undefined, edits: readonly Edit[]): MergedEdits => {
  const [first, ...others] = edits
  if (first === undefined) return { kind: 'merged', value: base ?? null }
  if (others.every(({ value }) => isSame(value, first.value))) return { kind: 'merged', value: first.value }
  if (!isMapping(base) || !edits.every(({ value }) => isMapping(value)))
    return { kind: 'disagreement', key: 'all of it', hooks: edits.map(({ hook }) => hook) }

  const changes = new Map<string, { readonly hook: string; readonly value: JsonValue | undefined }>()
  for (const { hook, value } of edits) {
    if (!isMapping(value)) continue
    for (const key of new Set([...Object.keys(base), ...Object.keys(value)])) {
      const before = base[key]
      const after = value[key]
      if (isSame(before, after)) continue
      const earlier = changes.get(key)
      if (earlier !== undefined && !isSame(earlier.value, after))
        return { kind: 'disagreement', key, hooks: [earlier.hook, hook] }
      changes.set(key, { hook, value: after })
    }
  }
  const merged = { ...base, ...Object.fromEntries(Array.from(changes, ([key, { value }]) => [key, value])) }
  return {
    kind: 'merged',
    value: Object.freeze(
      Object.fromEntries(
        Object.entries(merged).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
      ),
    ),
  }
}

const isSame = (one: JsonValue | undefined, other: JsonValue | undefined): boolean => {
  if (one === undefined || other === undefined) return one === other
  return canonicalJson(one) === canonicalJson(other)
}
