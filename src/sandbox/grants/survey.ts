import { readdirSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import { isWithinPath, protectionOf } from '../../policy/index.js'

import { realBoundary, surveyCarveOuts } from './carve-outs.js'
import type { CarveOuts } from './carve-outs.js'
import { expandPattern } from './expand-pattern.js'
import { missingPath } from './missing-path.js'
import type { Link, Place } from './object-at.js'
import { linkAt, objectAt } from './object-at.js'
import { refuseUngrantable, resolveGrant } from './resolve-grant.js'

/** The objects on this host that a boundary speaks of, found when the cell starts. */
export interface Survey extends CarveOuts {
  readonly read: readonly Place[]
  readonly write: readonly Place[]
  /** Folders named by a pattern that does not reach into them: shown, empty. */
  readonly shown: readonly AbsolutePath[]
  readonly links: readonly Link[]
}

export const surveyGrants = (boundary: Boundary): Survey => {
  const read = boundary.read.filter(isGrant).map((pattern) => surveyGrant(pattern, 'read'))
  const write = boundary.write
    .filter(isGrant)
    .map((pattern) => (namesWhatIsToCome(pattern, boundary) ? NOTHING : surveyGrant(pattern, 'write')))
  const granted = [...read, ...write].flatMap(({ places }) => places)
  // A pattern does not name what it happens to match: what is protected stays readable only.
  const real = realBoundary(boundary)
  const isProtected = ({ path }: Place) => protectionOf(real.write, path) !== undefined
  const toWrite = write.flatMap(({ places }) => places)
  return {
    read: [...read.flatMap(({ places }) => places), ...toWrite.filter(isProtected)],
    write: toWrite.filter((place) => !isProtected(place)),
    ...surveyCarveOuts(boundary, granted),
    shown: [...read, ...write].flatMap(({ shown }) => shown),
    links: [...read, ...write].flatMap(({ links }) => links),
  }
}

const isGrant = ({ negated }: PathPattern): boolean => !negated

interface Found {
  readonly places: readonly Place[]
  readonly shown: readonly AbsolutePath[]
  readonly links: readonly Link[]
}

const NOTHING: Found = { places: [], shown: [], links: [] }

/**
 * A grant inside another write root may name what is not there yet: the root already lets it be made,
 * and to name it is the way to permit a protected name.
 */
const namesWhatIsToCome = (pattern: PathPattern, { write }: Boundary): boolean => {
  const isWithin = (root: PathPattern) =>
    root !== pattern &&
    isGrant(root) &&
    root.kind !== 'pattern' &&
    isWithinPath(pattern.base, root.base) &&
    objectAt(root.base) === 'directory'
  if (!write.some(isWithin)) return false
  return pattern.kind === 'pattern' ? expandPattern(pattern).length === 0 : objectAt(pattern.base) === undefined
}

const surveyGrant = (pattern: PathPattern, section: 'read' | 'write'): Found => {
  refuseUngrantable(pattern.base, section, pattern.text)
  return pattern.kind === 'pattern' ? surveyPattern(pattern, section) : surveyObject(pattern, section)
}

const surveyObject = (pattern: PathPattern, section: 'read' | 'write'): Found => {
  const found = resolveGrant(pattern.base)
  if (found === undefined) throw missingPath(pattern, section)
  if (found.path === '/') return { places: topLevel(), shown: [], links: [] }
  return { places: [found], shown: [], links: found.links }
}

const surveyPattern = (pattern: PathPattern, section: 'read' | 'write'): Found => {
  const found = resolveGrant(pattern.base)
  const matched = found === undefined ? [] : expandPattern(pattern, found.path)
  const places = matched.flatMap(({ path, object }) =>
    object === 'link' || object === 'directory' ? [] : [{ path, object }],
  )
  // A pattern that only names what does not exist yet cannot let the tool create it.
  if (section === 'write' && places.length === 0) throw fail('glob-matches-nothing', { glob: pattern.text })
  return {
    places,
    shown: matched.filter(({ object }) => object === 'directory').map(({ path }) => path),
    links: [
      ...(found?.links ?? []),
      ...matched.filter(({ object }) => object === 'link').map(({ path }) => linkAt(path)),
    ],
  }
}

const OWN_VIEWS: ReadonlySet<string> = new Set(['/proc', '/dev', '/sys'])

/** The root itself cannot be bound, because the cell has one of its own. */
const topLevel = (): readonly Place[] =>
  readdirSync('/').flatMap((name) => {
    const path = `/${name}` as AbsolutePath
    const object = objectAt(path)
    return object === undefined || object === 'link' || OWN_VIEWS.has(path) ? [] : [{ path, object }]
  })
