import { dirname, resolve } from 'node:path'

import { lstatSync, readdirSync } from '../../platform/index.js'
import { codeOf, fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import { isWithinPath, parentOf, parseAbsolutePath, protectionOf } from '../../policy/index.js'

import { realBoundary, surveyCarveOuts } from './carve-outs.js'
import type { CarveOuts } from './carve-outs.js'
import { expandPattern } from './expand-pattern.js'
import { pathFor } from './file-names.js'
import type { Link, ObjectKind, RealObject } from './object-at.js'
import { linkAt, objectAt, realObjectAt, realPathOf } from './object-at.js'

/** The objects on this host that a boundary names, found when the cell starts. */
export interface Survey extends CarveOuts {
  readonly read: readonly RealObject[]
  readonly write: readonly RealObject[]
  /** Folders that match a pattern which does not reach into them: they are shown empty. */
  readonly shown: readonly AbsolutePath[]
  readonly links: readonly Link[]
}

export const surveyGrants = (boundary: Boundary): Survey => {
  const read = boundary.read.filter(isGrant).map((pattern) => surveyGrant(pattern, 'read'))
  const write = boundary.write
    .filter(isGrant)
    .map((pattern) => (isFileToCome(pattern, boundary) ? NOTHING : surveyGrant(pattern, 'write')))
  const granted = [...read, ...write].flatMap(({ places }) => places)
  // A pattern does not spell out the names that it matches, so protected names stay read-only.
  const real = realBoundary(boundary)
  const isProtected = ({ path }: RealObject) => protectionOf(real.write, path) !== undefined
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

interface Found extends Pick<Survey, 'shown' | 'links'> {
  readonly places: readonly RealObject[]
}

const NOTHING: Found = { places: [], shown: [], links: [] }

/**
 * A grant inside another write root may name a missing file: the root already lets the tool create it. To name it is
 * how a policy permits a protected name.
 */
const isFileToCome = (pattern: PathPattern, { write }: Boundary): boolean => {
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
  return { places: found.path === '/' ? topLevel() : [found], shown: [], links: found.links }
}

/** Nothing was found at a granted path: it does not exist, or this user may not look. */
const missingPath = ({ base: path, text }: PathPattern, section: 'read' | 'write'): CordonError => {
  try {
    lstatSync(pathFor(path))
  } catch (error) {
    if (codeOf(error) === 'EACCES')
      return fail('path-denied', { path, problem: 'a folder on the way there is closed to this user (EACCES)' }, error)
  }
  // A tool creates a file in a folder that it may write. A whole workspace or home is too much to advise.
  const around = dirname(text.replace(/\/\*\*$/, ''))
  const isInFolder = !['.', '..', '/', '~'].includes(around) && objectAt(parentOf(path)) === 'directory'
  const folder = section === 'write' && isInFolder ? `; or grant its folder: --write ${around}` : ''
  return fail('path-missing', { path, fix: `create it first, or remove the grant${folder}` })
}

const surveyPattern = (pattern: PathPattern, section: 'read' | 'write'): Found => {
  const found = resolveGrant(pattern.base)
  const matched = found === undefined ? [] : expandPattern(pattern, found.path)
  const places = matched.flatMap(({ path, object }) =>
    object === 'link' || object === 'directory' ? [] : [{ path, object }],
  )
  // A pattern without a match cannot let the tool create a file.
  if (section === 'write' && places.length === 0) throw fail('glob-matches-nothing', { glob: pattern.text })
  const pathsOf = (kind: ObjectKind) => matched.filter(({ object }) => object === kind).map(({ path }) => path)
  return { places, shown: pathsOf('directory'), links: [...(found?.links ?? []), ...pathsOf('link').map(linkAt)] }
}

/** The read patterns without a match on this host, as written. A missing path is an error instead. */
export const unmatchedReads = ({ read }: Boundary): readonly string[] =>
  read
    .filter((pattern) => {
      if (pattern.negated || pattern.kind !== 'pattern') return false
      const found = resolveGrant(pattern.base)
      return found === undefined || expandPattern(pattern, found.path).length === 0
    })
    .map(({ text }) => text)

/** The kernel's own views: a cell has these of its own, or none. */
export const isKernelView = (path: string): boolean => /^\/(?:proc|dev|sys)(?:\/|$)/.test(path)

/** The root cannot be bound, because the cell has its own. */
const topLevel = (): readonly RealObject[] =>
  readdirSync('/')
    .map((name) => `/${name}` as AbsolutePath)
    .filter((path) => !isKernelView(path))
    .flatMap(realObjectAt)

interface GrantedObject extends RealObject {
  /** The system's links that lead there. The cell shows them too. */
  readonly links: readonly Link[]
}

// Links that distributions make (/bin, /var/run, a relocated /home). No tool writes into these folders.
const FOLDERS_OF_SYSTEM_LINKS: ReadonlySet<string> = new Set(['/', '/usr', '/var', '/home'])

/**
 * The object that a grant names. A grant follows only the system's own links: an earlier call may have planted any
 * other link to move the grant to another file.
 */
export const resolveGrant = (path: AbsolutePath): GrantedObject | undefined => {
  const links: Link[] = []
  let rest = path
  for (let hops = 0; hops < 16; hops += 1) {
    const link = firstLink(rest)
    if (link === undefined) {
      const [place] = realObjectAt(rest)
      return place === undefined ? undefined : { ...place, links }
    }
    if (!FOLDERS_OF_SYSTEM_LINKS.has(dirname(link.path)))
      throw fail('path-is-symlink', { path, real: realPathOf(path) ?? 'it leads nowhere' })
    links.push(link)
    rest = parseAbsolutePath(resolve(dirname(link.path), link.target) + rest.slice(link.path.length))
  }
  throw fail('path-is-symlink', { path, real: 'its links lead in a circle' })
}

const firstLink = (path: AbsolutePath): Link | undefined => {
  const names = path.split('/')
  for (let depth = 2; depth <= names.length; depth += 1) {
    const prefix = names.slice(0, depth).join('/') as AbsolutePath
    if (objectAt(prefix) === 'link') return linkAt(prefix)
  }
  return undefined
}

/** Refuses grants that no cell can have: the kernel's own views, and to write the root. */
export const refuseUngrantable = (path: AbsolutePath, section: 'read' | 'write', text: string): void => {
  const reject = (problem: string, fix: string) => fail('grant-inexpressible', { section, grant: text, problem, fix })
  if (path === '/' && section === 'write')
    throw reject('the whole file system', 'grant the folders that the tool works in')
  if (isWithinPath(path, '/sys' as AbsolutePath) && section === 'write')
    throw reject('/sys changes the host itself', 'remove the grant')
  if (isWithinPath(path, '/proc' as AbsolutePath)) throw reject('the cell has its own /proc', 'remove the grant')
  if (path === '/dev')
    throw reject('the cell has its own /dev; grant a single device by its path instead', 'remove the grant')
}
