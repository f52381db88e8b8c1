import { CordonError } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { PROTECTED_NAMES, isNamedBy, isWithinPath } from '../../policy/index.js'

import { realBoundary } from '../grants/carve-outs.js'
import type { CarvedOut } from '../grants/carve-outs.js'
import { createRedirects } from './git-redirects.js'
import { objectAt, placeAt } from '../grants/object-at.js'
import type { Place } from '../grants/object-at.js'
import { createOtherNames } from './other-names.js'
import { refuseUngrantable } from '../grants/resolve-grant.js'
import type { FoundName, Patrol, Watcher } from './watcher.js'
import { refuseTooManySeals } from './too-many-seals.js'
import type { Violation } from '../result/violations.js'

/** The watch over the write roots of one call. */
export interface CallPatrol {
  /** Protected and there: to be sealed. */
  readonly sealed: readonly Place[]
  /** Also watches what the policy carves out, there already or not. */
  readonly hold: (carved: CarvedOut) => Promise<void>
  /** The tool runs from now on. `closed`: folders in which it can make nothing. */
  readonly go: (closed: readonly AbsolutePath[]) => void
  readonly end: () => Promise<EndedPatrol>
  /** For a call whose tool never ran: whatever happened in its write roots is somebody else's. */
  readonly giveUp: () => Promise<void>
}

export interface EndedPatrol {
  readonly violations: readonly Violation[]
  /** Where something was made: what the next call would have to seal, or the reason why it would be refused. */
  readonly next: readonly Place[] | CordonError | undefined
}

const redirects = createRedirects()
const otherNames = createOtherNames()

const NOTHING: EndedPatrol = { violations: [], next: undefined }

export const NO_PATROL: CallPatrol = {
  sealed: [],
  hold: () => Promise.resolve(),
  go: () => undefined,
  end: () => Promise.resolve(NOTHING),
  giveUp: () => Promise.resolve(),
}

export const beginPatrol = async (
  watcher: Watcher,
  boundary: Boundary,
  onAppearance: () => void,
): Promise<CallPatrol> => {
  const real = realBoundary(boundary)
  // Before the watcher walks what is refused anyway: the whole file system, for one.
  for (const { negated, kind, base, text } of real.write)
    if (!negated && kind !== 'pattern') refuseUngrantable(base, 'write', text)
  const folders = writeFolders(real)
  const begun = await Promise.allSettled(folders.map((root) => watcher.begin(root, real, onAppearance)))
  const patrols = begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = begun.find((each) => each.status === 'rejected')
  if (failed !== undefined) {
    await Promise.allSettled(patrols.map((patrol) => patrol.end('unused')))
    throw failed.reason
  }
  let held: Pick<Patrol, 'end'> | undefined
  let ending: Promise<EndedPatrol> | undefined
  const files = writeFiles(real, folders)
  const links = patrols.map((patrol) => patrol.links).join()
  const redirectedIn = (found: readonly FoundName[]) => {
    const { places, missing } = redirects.of(found, folders)
    return {
      places: places.filter(({ path }) => isBelow(folders, path)),
      missing: missing.filter((path) => isBelow(folders, path)),
    }
  }
  const toSeal = (found: readonly FoundName[], redirected: readonly Place[]): readonly Place[] => {
    const sealed = withoutRepeats([...found, ...redirected].flatMap((name) => sealable(real, name)))
    refuseTooManySeals(sealed, folders)
    return sealed
  }
  const endAll = async (use: 'used' | 'unused'): Promise<EndedPatrol> => {
    const ended = await Promise.all(
      [...patrols, ...(held === undefined ? [] : [held])].map((patrol) => patrol.end(use)),
    )
    const violations = ended.flatMap((each) => each.violations)
    if (!ended.some(({ found }) => found !== undefined)) return { violations, next: undefined }
    // Roots in which nothing was made hold what they held.
    const found = patrols.flatMap((patrol, at) => ended[at]?.found ?? patrol.found)
    return { violations, next: attempt(() => toSeal(found, redirectedIn(found).places)) }
  }
  // A call that is refused after it has ended asks twice; what it left is looked at once.
  const end = (use: 'used' | 'unused') => (ending ??= endAll(use))
  try {
    const found = patrols.flatMap((patrol) => patrol.found)
    const { places: redirected, missing } = redirectedIn(found)
    const named = toSeal(found, redirected)
    const others = await otherNames.of(watcher, links, [...folders, ...files], named)
    const sealed = others.length === 0 ? named : withoutRepeats([...named, ...others])
    refuseTooManySeals(sealed, folders)
    const hold = async (carved: CarvedOut) => {
      if (carved.paths.length > 0) await otherNames.refuse(watcher, links, [...folders, ...files], carved, sealed)
      // The watcher knows the protected names, and what their links lead to; the rest it must be told.
      const names = [
        ...carved.paths,
        ...[...redirected, ...others].map(({ path }) => path),
        ...missingElsewhere(real, folders),
      ]
      if (names.length > 0) held = await watcher.hold(names, onAppearance)
    }
    const go = (closed: readonly AbsolutePath[]) => {
      for (const patrol of patrols) patrol.go(closed, missing)
    }
    const giveUp = async () => {
      await end('unused')
    }
    return { sealed, hold, go, end: () => end('used'), giveUp }
  } catch (error) {
    await end('unused')
    throw error
  }
}

const attempt = <Value>(compute: () => Value): Value | CordonError => {
  try {
    return compute()
  } catch (error) {
    if (error instanceof CordonError) return error
    throw error
  }
}

/** Carved out, not there yet, and in no write root, where the watcher has an eye on it anyway. */
const missingElsewhere = ({ read, write }: Boundary, folders: readonly AbsolutePath[]): readonly AbsolutePath[] =>
  [...read, ...write]
    .filter(
      ({ negated, kind, base }) =>
        negated && kind !== 'pattern' && !isBelow(folders, base) && objectAt(base) === undefined,
    )
    .map(({ base }) => base)

const isBelow = (folders: readonly AbsolutePath[], path: AbsolutePath): boolean =>
  folders.some((folder) => path !== folder && isWithinPath(path, folder))

const withoutRepeats = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map((place) => [place.path, place])).values(),
]

/** The folders that are write roots; one that lies in another is watched with it. */
const writeFolders = (boundary: Boundary): readonly AbsolutePath[] => {
  const folders = boundary.write
    .filter(({ negated, kind, base }) => !negated && kind !== 'pattern' && objectAt(base) === 'directory')
    .map(({ base }) => base)
  const unique = [...new Set(folders)]
  return unique.filter((folder) => !unique.some((other) => other !== folder && isWithinPath(folder, other)))
}

/** Single files that may be written and lie in no write root. */
const writeFiles = (boundary: Boundary, folders: readonly AbsolutePath[]): readonly AbsolutePath[] =>
  boundary.write
    .filter(
      ({ negated, kind, base }) =>
        !negated &&
        kind !== 'pattern' &&
        !isBelow(folders, base) &&
        placeAt(base).some(({ object }) => object === 'file'),
    )
    .map(({ base }) => base)

/** A link cannot be sealed by a mount; the watcher puts it back when it was changed. */
const sealable = (boundary: Boundary, { path, object }: FoundName): readonly Place[] => {
  const isNamedItself = boundary.write.some(
    ({ negated, kind, base }) => !negated && kind !== 'pattern' && base === path,
  )
  if (object === 'link' || isNamedItself) return []
  const entry = PROTECTED_NAMES.find(({ name }) => path.endsWith(`/${name}`))
  return entry !== undefined && isNamedBy(boundary.write, entry, path) ? [] : [{ path, object }]
}
