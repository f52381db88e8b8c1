import { codeOf, fail } from '../../errors/index.js'
import { ifSeen, statSync } from '../../platform/index.js'
import type { AbsolutePath, PathPattern, WalkState } from '../../policy/index.js'
import { canMatchBeneath, isMatch, startWalk, step } from '../../policy/index.js'

import { entriesIn, pathFor } from './file-names.js'
import type { NamedEntry } from './file-names.js'
import { isExecutable, kindOf } from './object-at.js'
import type { FoundObject } from './object-at.js'

const MOST_MATCHES = 2_000
const MOST_LOOKED_AT = 200_000

/**
 * The existing objects that match a pattern. Neither mounts nor Landlock rules know patterns, so the cell's start
 * expands them. A pattern is never widened to its literal prefix. `folder` is the real path of its base.
 */
export const expandPattern = (pattern: PathPattern, folder: AbsolutePath = pattern.base): readonly FoundObject[] => {
  const found: FoundObject[] = []
  let looked = 0
  const { segments } = pattern

  const look = (at: AbsolutePath, state: WalkState) => {
    for (const { name, entry } of entriesOf(at, pattern)) {
      looked += 1
      if (looked > MOST_LOOKED_AT)
        throw fail('glob-too-many', { glob: pattern.text, limit: MOST_LOOKED_AT, what: 'files to look through' })
      const next = step(segments, state, name)
      if (next.size === 0) continue
      const path = `${at === '/' ? '' : at}/${name}` as AbsolutePath
      if (isMatch(segments, next)) found.push({ path, object: kindOf(entry) })
      if (found.length > MOST_MATCHES)
        throw fail('glob-too-many', { glob: pattern.text, limit: MOST_MATCHES, what: 'existing objects' })
      if (entry.isDirectory() && canMatchBeneath(segments, next) && !(pattern.negated && isMatch(segments, next)))
        look(path, next)
    }
  }
  look(folder, stateAt(pattern))
  return found
}

const stateAt = ({ base, segments }: PathPattern): WalkState =>
  base
    .split('/')
    .filter((name) => name !== '')
    .reduce((state, name) => step(segments, state, name), startWalk(segments))

const entriesOf = (folder: AbsolutePath, { negated, text }: PathPattern): readonly NamedEntry[] => {
  try {
    return entriesIn(folder)
  } catch (cause) {
    // A file has nothing beneath it.
    if (codeOf(cause) === 'ENOTDIR') return []
    // A folder that this process cannot list grants nothing. A carve-out in it must not be lost: the tool may own the
    // folder and could make it readable.
    if (!negated || isClosedForGood(folder)) return []
    throw fail(
      'grant-inexpressible',
      {
        section: 'filesystem',
        grant: `!${text.replace(/^!/, '')}`,
        problem: `${folder} cannot be listed`,
        fix: 'make the folder readable, or carve it out as a whole',
      },
      cause,
    )
  }
}

/**
 * Another user's folder that this user cannot enter: the tool runs as the same user. If the owner is not known, perhaps
 * the tool can open a folder above it.
 */
const isClosedForGood = (folder: AbsolutePath): boolean => {
  const owner = ifSeen(() => statSync(pathFor(folder)).uid)
  return owner !== undefined && owner !== process.getuid?.() && !isExecutable(folder)
}
