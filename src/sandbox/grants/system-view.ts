import { readFileSync, statSync } from 'node:fs'

import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import { isReadable } from '../../policy/index.js'

import { surveyCarveOuts } from './carve-outs.js'
import { expandPattern } from './expand-pattern.js'
import type { Link } from './object-at.js'
import { linkAt, objectAt } from './object-at.js'
import type { Place } from './object-at.js'

/** What presets show, found once: the system's folders do not come and go between calls. */
export interface SystemView {
  readonly places: readonly Place[]
  readonly links: readonly Link[]
  /** Small texts are copied into the cell: a third of the cost of a mount each. */
  readonly files: readonly TextFile[]
}

export interface TextFile {
  readonly path: AbsolutePath
  readonly content: string
}

const LARGEST_COPY = 16_384

export const viewPresets = (boundary: Boundary): SystemView => {
  const places: Place[] = []
  const links: Link[] = []
  const files: { path: AbsolutePath; content: string }[] = []
  for (const path of new Set(boundary.presetRead.flatMap(pathsOf))) {
    const object = objectAt(path)
    if (object === 'link') links.push(linkAt(path))
    const content = object === 'file' ? smallText(path) : undefined
    if (!isReadable(boundary, path)) continue
    if (content !== undefined) files.push({ path, content })
    else if (object === 'file' || object === 'directory') places.push({ path, object })
  }
  return { places, links, files }
}

/** What the policy carves out of all this and exists now: looked for at every call, because it may come and go. */
export const hiddenInView = (boundary: Boundary, { places }: SystemView): readonly Place[] =>
  // What is carved out of `write` says nothing about what only presets let the tool read.
  surveyCarveOuts({ ...boundary, write: boundary.write.filter(({ negated }) => !negated) }, places).hidden

const pathsOf = (pattern: PathPattern): readonly AbsolutePath[] =>
  pattern.kind === 'pattern' ? expandPattern(pattern).map(({ path }) => path) : [pattern.base]

const smallText = (path: AbsolutePath): string | undefined => {
  try {
    if (statSync(path).size > LARGEST_COPY) return undefined
    const bytes = readFileSync(path)
    const text = bytes.toString('utf8')
    return text.includes('\0') || !Buffer.from(text, 'utf8').equals(bytes) ? undefined : text
  } catch {
    return undefined
  }
}
