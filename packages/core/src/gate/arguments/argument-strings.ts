import { isList, isMapping } from '../input/canonical-json.js'
import { placeOfKey, renderPlace } from '../input/json-value.js'
import type { JsonValue, KeyPlace } from '../input/json-value.js'
import type { MarkTree } from './mark-tree.js'
import type { Mark } from '../input/parameter-marks.js'

/** One string of the input: a value, or the key of a mapping. */
export interface ArgumentString {
  readonly text: string
  readonly place: KeyPlace | undefined
  readonly marks: ReadonlySet<Mark>
  readonly isKey: boolean
  /** One word of many, which counts as a path only if it plainly is one. */
  readonly isCertainOnly: boolean
}

const NONE: ReadonlySet<Mark> = new Set()

/** Every string of the input, however deep. */
export const stringsOf = (input: JsonValue, tree: MarkTree): readonly ArgumentString[] => {
  const found: ArgumentString[] = []
  collect(input, tree, undefined, NONE, found)
  return found
}

const collect = (
  value: JsonValue,
  tree: MarkTree | undefined,
  at: KeyPlace | undefined,
  inherited: ReadonlySet<Mark>,
  found: ArgumentString[],
): void => {
  // A mark of a list or mapping applies to everything in it.
  const marks =
    tree === undefined || tree.marks.size === 0
      ? inherited
      : inherited.size === 0
        ? tree.marks
        : new Set([...inherited, ...tree.marks])
  if (typeof value === 'string') {
    found.push({ text: value, place: at, marks, isKey: false, isCertainOnly: false })
  } else if (isList(value)) {
    value.forEach((item, index) => {
      collect(item, tree?.each, placeOfKey(at, index), marks, found)
    })
  } else if (isMapping(value)) {
    for (const [key, child] of Object.entries(value)) {
      found.push({ text: key, place: at, marks: marks.has('text') ? marks : NONE, isKey: true, isCertainOnly: true })
      collect(child, tree?.keys.get(key) ?? tree?.each, placeOfKey(at, key), marks, found)
    }
  }
}

/** `files[2].path`, or `a key of files`. */
export const whereOf = ({ place, isKey }: ArgumentString): string =>
  isKey ? `a key of ${renderPlace(place)}` : renderPlace(place)
