import { isUtf8 } from 'node:buffer'

import { ifSeen, readFileSync, statSync } from '../../platform/index.js'
import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import { isReadable } from '../../policy/index.js'

import { surveyCarveOuts } from './carve-outs.js'
import { expandPattern } from './expand-pattern.js'
import { linkAt, objectAt } from './object-at.js'
import type { Link, RealObject } from './object-at.js'

/** The files of the presets, found once: system folders do not change between calls. */
export interface SystemView {
  readonly places: readonly RealObject[]
  readonly links: readonly Link[]
  /** Small text files are copied into the cell, which costs a third of a mount. */
  readonly files: readonly TextFile[]
}

export interface TextFile {
  readonly path: AbsolutePath
  readonly content: string
}

const LARGEST_COPY = 16_384

export const viewPresets = (boundary: Boundary): SystemView => {
  const places: RealObject[] = []
  const links: Link[] = []
  const files: TextFile[] = []
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

/** The existing carve-outs in this view. They may change, so every call looks for them. */
export const hiddenInView = (boundary: Boundary, { places }: SystemView): readonly RealObject[] =>
  // Carve-outs of `write` do not concern files that presets only let the tool read.
  surveyCarveOuts({ ...boundary, write: boundary.write.filter(({ negated }) => !negated) }, places).hidden

const pathsOf = (pattern: PathPattern): readonly AbsolutePath[] =>
  pattern.kind === 'pattern' ? expandPattern(pattern).map(({ path }) => path) : [pattern.base]

const smallText = (path: AbsolutePath): string | undefined => {
  const bytes = ifSeen(() => (statSync(path).size > LARGEST_COPY ? undefined : readFileSync(path)))
  return bytes === undefined || bytes.includes(0) || !isUtf8(bytes) ? undefined : bytes.toString('utf8')
}
