import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import { isReadable, isWithinPath, parentOf } from '../../policy/index.js'

import { expandPattern } from './expand-pattern.js'
import { placeAt, realPathOf } from './object-at.js'
import type { Place } from './object-at.js'

export interface CarveOuts {
  /** Not there for the tool. */
  readonly hidden: readonly Place[]
  /** There, but not to be changed. */
  readonly sealed: readonly Place[]
}

/** What a policy takes out of what it grants, as the watcher needs to know it. */
export interface CarvedOut {
  readonly paths: readonly AbsolutePath[]
  /** Those of them that may not be read either. */
  readonly hidden: readonly AbsolutePath[]
  /** Granted for reading. */
  readonly readable: readonly AbsolutePath[]
}

/** The carved-out files and folders that exist now. */
export const surveyCarveOuts = (boundary: Boundary, granted: readonly Place[]): CarveOuts => {
  const real = realBoundary(boundary)
  const carved = [...real.read, ...real.write]
    .filter(({ negated }) => negated)
    .flatMap((pattern) => placesOf(pattern, granted))
  const hidden = carved.filter(({ judged }) => !isReadable(real, judged))
  const folders = hidden.filter(({ object }) => object === 'directory')
  // Within a hidden folder nothing is left to be hidden or sealed.
  const isGone = (path: AbsolutePath) =>
    folders.some((folder) => folder.path !== path && isWithinPath(path, folder.path))
  return {
    hidden: hidden.filter(({ path }) => !isGone(path)),
    sealed: carved.filter(({ path, judged }) => isReadable(real, judged) && !isGone(path)),
  }
}

interface Carved extends Place {
  /**
   * The path that decides whether it may still be read: `dir/**` speaks of what is in the folder, not of the folder.
   */
  readonly judged: AbsolutePath
}

const placesOf = (pattern: PathPattern, granted: readonly Place[]): readonly Carved[] => {
  const within = granted.filter(({ path }) => isWithinPath(pattern.base, path) || isWithinPath(path, pattern.base))
  if (within.length === 0) return []
  if (pattern.kind !== 'pattern')
    return placeAt(pattern.base).map((place) => ({
      ...place,
      judged: pattern.kind === 'subtree' ? (`${pattern.base}/any` as AbsolutePath) : pattern.base,
    }))
  return within
    .flatMap(({ path }) => expandPattern(isWithinPath(pattern.base, path) ? pattern : { ...pattern, base: path }))
    .flatMap(({ path, object }) => (object === 'link' ? [] : [{ path, object, judged: path }]))
}

/**
 * The boundary with its paths as the kernel sees them: a carve-out that leads through a link (a relocated home) must
 * not be passed over.
 */
export const realBoundary = (boundary: Boundary): Boundary => {
  const [read, write] = [boundary.read.map(realPattern), boundary.write.map(realPattern)]
  const isSame =
    read.every((pattern, at) => pattern === boundary.read[at]) &&
    write.every((pattern, at) => pattern === boundary.write[at])
  return isSame ? boundary : { ...boundary, read, write }
}

const realPattern = (pattern: PathPattern): PathPattern => {
  const base = futurePathOf(pattern.base)
  if (base === pattern.base) return pattern
  const wild = pattern.segments.slice(namesIn(pattern.base).length)
  return { ...pattern, base, segments: [...namesIn(base).map((name) => ({ kind: 'name' as const, name })), ...wild] }
}

const namesIn = (path: AbsolutePath): readonly string[] => path.split('/').filter((name) => name !== '')

/** A path with its links followed; what does not exist yet lies in the real folder that it would be made in. */
export const futurePathOf = (path: AbsolutePath): AbsolutePath => {
  const real = realPathOf(path)
  if (real !== undefined || path === '/') return real ?? path
  const folder = futurePathOf(parentOf(path))
  return `${folder === '/' ? '' : folder}${path.slice(path.lastIndexOf('/'))}` as AbsolutePath
}
