import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import { isReadable, isWithinPath, literalPattern, parentOf } from '../../policy/index.js'

import { expandPattern } from './expand-pattern.js'
import { objectAt, realObjectAt, realPathOf } from './object-at.js'
import type { RealObject } from './object-at.js'

export interface CarveOuts {
  /** The tool does not see these. */
  readonly hidden: readonly RealObject[]
  /** The tool can read these, but not change them. */
  readonly sealed: readonly RealObject[]
  /**
   * Carve-outs that are symbolic links, by the real folder that they are in. No mount can seal a link, but their
   * folders must stay where they are.
   */
  readonly carvedLinks: readonly AbsolutePath[]
}

/** The existing carve-outs of a policy, for the watcher. */
export interface CarvedOut {
  readonly paths: readonly AbsolutePath[]
  /** Those that the tool may not read either. */
  readonly hidden: readonly AbsolutePath[]
  readonly readable: readonly AbsolutePath[]
}

export const surveyCarveOuts = (boundary: Boundary, granted: readonly RealObject[]): CarveOuts => {
  const real = realBoundary(boundary)
  const carved = [...real.read, ...real.write]
    .filter(({ negated }) => negated)
    .flatMap((pattern) => placesOf(pattern, granted))
  const hidden = carved.filter(({ judged }) => !isReadable(real, judged))
  const folders = hidden.filter(({ object }) => object === 'directory')
  // Everything inside a hidden folder is hidden already.
  const isGone = (path: AbsolutePath) =>
    folders.some((folder) => folder.path !== path && isWithinPath(path, folder.path))
  return {
    hidden: hidden.filter(({ path }) => !isGone(path)),
    sealed: carved.filter(({ path, judged }) => isReadable(real, judged) && !isGone(path)),
    carvedLinks: carvedLinksOf(boundary),
  }
}

export const carvedLinksOf = ({ write }: Pick<Boundary, 'write'>): readonly AbsolutePath[] =>
  write
    .filter(({ negated, kind, base }) => negated && kind === 'literal' && objectAt(base) === 'link')
    .map(({ base }) => `${futurePathOf(parentOf(base))}${base.slice(base.lastIndexOf('/'))}` as AbsolutePath)

/** The carved links whose targets are meant by no carve-out. */
export const linksCarvedAlone = (boundary: Pick<Boundary, 'write'>): readonly AbsolutePath[] => {
  const withTargets = carvedLinksOf({ write: boundary.write.filter(isOfObject) })
  return carvedLinksOf(boundary).filter((path) => !withTargets.includes(path))
}

interface Carved extends RealObject {
  /** Readability is judged by this path: `dir/**` covers the contents of the folder, not the folder. */
  readonly judged: AbsolutePath
}

const placesOf = (pattern: PathPattern, granted: readonly RealObject[]): readonly Carved[] => {
  const within = granted.filter(({ path }) => isWithinPath(pattern.base, path) || isWithinPath(path, pattern.base))
  if (within.length === 0) return []
  if (pattern.kind !== 'pattern')
    return realObjectAt(pattern.base).map((place) => ({
      ...place,
      judged: pattern.kind === 'subtree' ? (`${pattern.base}/any` as AbsolutePath) : pattern.base,
    }))
  return within
    .flatMap(({ path }) => expandPattern(isWithinPath(pattern.base, path) ? pattern : { ...pattern, base: path }))
    .flatMap(({ path, object }) => (object === 'link' ? [] : [{ path, object, judged: path }]))
}

/**
 * The boundary with links resolved. Otherwise a carve-out that leads through a link (a relocated home) would not match.
 * Without carve-outs of links themselves: those are `carvedLinks`.
 */
export const realBoundary = (boundary: Boundary): Boundary => {
  const [read, write] = [boundary.read.map(realPattern), boundary.write.filter(isOfObject).map(realPattern)]
  const isSame =
    write.length === boundary.write.length &&
    read.every((pattern, at) => pattern === boundary.read[at]) &&
    write.every((pattern, at) => pattern === boundary.write[at])
  return isSame ? boundary : { ...boundary, read, write }
}

const isOfObject = ({ isOfLink }: PathPattern): boolean => isOfLink !== true

const realPattern = (pattern: PathPattern): PathPattern => {
  const base = futurePathOf(pattern.base)
  if (base === pattern.base) return pattern
  const segmentsOf = (path: AbsolutePath) => literalPattern(path).segments
  const wild = pattern.segments.slice(segmentsOf(pattern.base).length)
  return { ...pattern, base, segments: [...segmentsOf(base), ...wild] }
}

/** The path with links resolved. A missing file is placed in the real folder that it would be created in. */
export const futurePathOf = (path: AbsolutePath): AbsolutePath => {
  const real = realPathOf(path)
  if (real !== undefined || path === '/') return real ?? path
  const folder = futurePathOf(parentOf(path))
  return `${folder === '/' ? '' : folder}${path.slice(path.lastIndexOf('/'))}` as AbsolutePath
}
