import { isList, isMapping } from './canonical-json.js'
import { renderKeys } from './json-value.js'
import type { JsonValue } from './json-value.js'
import type { MarkTree } from './mark-tree.js'
import type { Mark } from './parameter-marks.js'

/** One string of the input: a value, or the key of a mapping. */
export interface ArgumentString {
  readonly text: string
  readonly where: string
  readonly marks: ReadonlySet<Mark>
  readonly isKey: boolean
}

type Keys = readonly (string | number)[]

const NONE: ReadonlySet<Mark> = new Set()

/** Every string of the input, however deep. */
export const stringsOf = (input: JsonValue, tree: MarkTree): readonly ArgumentString[] => {
  const found: ArgumentString[] = []
  collect(input, tree, [], NONE, found)
  return found
}

const collect = (value: JsonValue, tree: MarkTree | undefined, at: Keys, inherited: ReadonlySet<Mark>, found: ArgumentString[]): void => {
  // A mark on a list or mapping is about everything in it.
  const marks = tree === undefined || tree.marks.size === 0 ? inherited : inherited.size === 0 ? tree.marks : new Set([...inherited, ...tree.marks])
  if (typeof value === 'string') {
    found.push({ text: value, where: renderKeys(at), marks, isKey: false })
  } else if (isList(value)) {
    value.forEach((item, index) => {
      collect(item, tree?.each, [...at, index], marks, found)
    })
  } else if (isMapping(value)) {
    for (const [key, child] of Object.entries(value)) {
      found.push({ text: key, where: `a key of ${renderKeys(at)}`, marks: marks.has('text') ? marks : NONE, isKey: true })
      collect(child, tree?.keys.get(key) ?? tree?.each, [...at, key], marks, found)
    }
  }
}
