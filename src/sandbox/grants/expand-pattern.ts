import { accessSync, constants, statSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import type { AbsolutePath, PathPattern, WalkState } from '../../policy/index.js'
import { canMatchBeneath, isMatch, startWalk, step } from '../../policy/index.js'

import { entriesIn, pathFor } from './file-names.js'
import type { NamedEntry } from './file-names.js'
import { kindOf } from './object-at.js'
import type { ObjectKind } from './object-at.js'

export interface Match {
  readonly path: AbsolutePath
  readonly object: ObjectKind
}

const MOST_MATCHES = 2_000
const MOST_LOOKED_AT = 200_000

/**
 * The existing objects that a pattern stands for. Neither a mount nor a Landlock rule knows patterns,
 * so they are expanded when the cell starts; a pattern is never widened to its literal prefix.
 * `folder` is where its base really lies.
 */
export const expandPattern = (pattern: PathPattern, folder: AbsolutePath = pattern.base): readonly Match[] => {
  const found: Match[] = []
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
    // What this process cannot list, it cannot grant. But what it cannot carve out, the tool, who may own the folder,
    // could open.
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

/** Somebody else's, and not to be entered: the tool, who is the same user, reaches nothing in it either. */
const isClosedForGood = (folder: AbsolutePath): boolean => isSomebodyElses(folder) && !canEnter(folder)

/** False where that cannot be seen: what lies above may be the tool's to open. */
const isSomebodyElses = (folder: AbsolutePath): boolean => {
  try {
    return statSync(pathFor(folder)).uid !== process.getuid?.()
  } catch {
    return false
  }
}

const canEnter = (folder: AbsolutePath): boolean => {
  try {
    accessSync(pathFor(folder), constants.X_OK)
    return true
  } catch {
    return false
  }
}
