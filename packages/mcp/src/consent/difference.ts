// The difference between two values of JSON, as lines that a person reads.
import type { JsonValue } from 'cordon/gate'

/** `- place: value` for what was, `+ place: value` for what is. */
export const differenceOf = (before: JsonValue, after: JsonValue): readonly string[] => {
  const old = leavesOf(before)
  const current = leavesOf(after)
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((place) => {
    const was = old.get(place)
    const is = current.get(place)
    if (was === is) return []
    const named = place === '' ? '' : `${place}: `
    return [...(was === undefined ? [] : [`- ${named}${was}`]), ...(is === undefined ? [] : [`+ ${named}${is}`])]
  })
}

/** Each text, number and empty list or mapping by its place, such as `inputSchema.properties.path.type`. */
const leavesOf = (value: JsonValue): ReadonlyMap<string, string> => {
  const leaves = new Map<string, string>()
  const open: { readonly place: string; readonly value: JsonValue }[] = [{ place: '', value }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { place, value: at } = next
    const inner = typeof at === 'object' && at !== null ? Object.entries<JsonValue>(at) : []
    if (inner.length === 0) leaves.set(place, JSON.stringify(at))
    for (const [key, each] of inner.reverse())
      open.push({ place: place === '' ? shown(key) : `${place}.${shown(key)}`, value: each })
  }
  return leaves
}

/** A key with a dot in it must not look like a place further inside. */
const shown = (key: string): string => (/^[\w$-]+$/.test(key) ? key : JSON.stringify(key))
