import type { Boundary, ToolPolicy } from '../model.js'
import { checksOf } from './checks.js'
import type { WithinContext } from './checks.js'
import type { Witness } from './witness.js'
import { describeWitness } from './witness.js'

export type Within = { readonly within: true } | { readonly within: false; readonly witness: Witness }

/**
 * Whether `a` allows nothing beyond `b`. If an exact answer takes too long, it is no, with the witness `undecided`.
 * Risk is not compared, because it grants nothing. The egress class counts by the requests that it refuses.
 *
 * Without a context, `a` must be within `b` for several positions of workspace and home. None of them is the root, or
 * lies in a folder of a preset: there each carve-out of the workspace would hide files of the system.
 */
export const isWithin = (
  a: ToolPolicy | Boundary,
  b: ToolPolicy | Boundary,
  context: Partial<WithinContext> = {},
): Within => {
  for (const { find } of checksOf(a, b, context)) {
    const witness = find()
    if (witness !== undefined) return { within: false, witness }
  }
  return { within: true }
}

/** A witness for every grant, limit and other part of `a` that goes beyond `b`. */
export const beyond = (
  a: ToolPolicy | Boundary,
  b: ToolPolicy | Boundary,
  context: Partial<WithinContext> = {},
): readonly Witness[] => {
  const found = new Map<string, Witness>()
  for (const { key, find, parts, isSole = false, arePartsNew = false } of checksOf(a, b, context, (known) =>
    found.has(known),
  )) {
    if (isSole && found.has(key)) continue
    const grants = isSole ? [] : (parts?.() ?? [])
    const findParts = (): void => {
      for (const part of grants) {
        const ofPart = found.has(part.key) ? undefined : part.find()
        if (ofPart !== undefined) found.set(part.key, ofPart)
      }
    }
    if (arePartsNew) findParts()
    // If one of them has a witness already, the whole would only give it again.
    const witness = grants.some((part) => found.has(part.key)) ? 'known' : find()
    if (witness === undefined) continue
    if (!arePartsNew) findParts()
    // Some things only several grants allow together.
    if (witness !== 'known' && !grants.some((part) => found.has(part.key))) found.set(key, witness)
  }
  return [...new Map([...found.values()].map((witness) => [describeWitness(witness), witness])).values()]
}
