// The watch over the write roots of one call: which protected names to seal, and what appears while the tool runs.
import { homedir } from 'node:os'
import { basename } from 'node:path'

import { CordonError, fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { PROTECTED_NAMES, isNamedBy, isWithinPath, parentOf } from '../../policy/index.js'
import { lookOnce, lstatSync, quotedWord } from '../../platform/index.js'

import { carvedLinksOf, linksCarvedAlone, realBoundary } from '../grants/carve-outs.js'
import type { CarvedOut } from '../grants/carve-outs.js'
import { redirectsOf } from './git-redirects.js'
import { pathFor } from '../grants/file-names.js'
import { objectAt, realObjectAt } from '../grants/object-at.js'
import type { FoundObject, RealObject } from '../grants/object-at.js'
import { onlyOrdinary } from '../grants/ordinary-paths.js'
import { otherNamesOf, refuseOtherNames } from './other-names.js'
import { refuseUngrantable } from '../grants/survey.js'
import { isBelow, missingCarveOuts, plainGrants, startWatcher } from './watcher.js'
import type { Patrol, Watcher } from './watcher.js'
import type { Violation } from '../result/violations.js'
import type { CellSettings } from '../sandbox-interface.js'

export interface CallPatrol {
  /** Existing protected names, which the cell has to seal. */
  readonly sealed: readonly RealObject[]
  /** Also watches the carve-outs, whether they exist or not. */
  readonly hold: (carved: CarvedOut) => Promise<void>
  /** Called when the tool starts. `closed`: folders in which it can make nothing. */
  readonly go: (closed: readonly AbsolutePath[]) => void
  readonly end: () => Promise<EndedPatrol>
  /** For a call whose tool never ran: it changed nothing in its write roots. */
  readonly giveUp: () => Promise<void>
}

export interface EndedPatrol {
  readonly violations: readonly Violation[]
  /** If something was made: what the next call has to seal, or the error with which it would be refused. */
  readonly next: readonly RealObject[] | CordonError | undefined
}

const NOTHING: EndedPatrol = { violations: [], next: undefined }

const NO_PATROL: CallPatrol = {
  sealed: [],
  hold: () => Promise.resolve(),
  go: () => undefined,
  end: () => Promise.resolve(NOTHING),
  giveUp: () => Promise.resolve(),
}

interface Patrols {
  readonly begin: (
    settings: Pick<CellSettings, 'boundary' | 'names' | 'hostEnvironment'>,
    onAppearance: () => void,
  ) => Promise<CallPatrol>
  readonly close: () => void
}

/** Starts the watcher with the first call that needs one, and again if it ended. */
export const createPatrols = (launcher: string): Patrols => {
  let watcher: Watcher | undefined
  return {
    begin: async ({ boundary, names, hostEnvironment }, onAppearance) => {
      const carved = [...boundary.read, ...boundary.write].some(({ negated }) => negated)
      if (!carved && (boundary.write.length === 0 || names === 'free')) return NO_PATROL
      if (watcher?.isAlive() !== true) watcher = startWatcher(launcher)
      // A local host serves users of git with other homes than its own.
      return beginPatrol(watcher, boundary, hostEnvironment?.['HOME'] ?? homedir(), onAppearance)
    },
    close: () => watcher?.close(),
  }
}

const beginPatrol = async (
  watcher: Watcher,
  boundary: Boundary,
  home: string,
  onAppearance: () => void,
): Promise<CallPatrol> => {
  const real = realBoundary(boundary)
  // First, so that the watcher does not walk a root that is refused, such as the whole file system.
  for (const { base, text } of plainGrants(real)) refuseUngrantable(base, 'write', text)
  const folders = writeFolders(real)
  const guarded = carvedLinksOf(boundary)
  const links = { all: guarded, alone: linksCarvedAlone(boundary) }
  const begun = await Promise.allSettled(folders.map((root) => watcher.begin(root, real, onAppearance, links)))
  const patrols = begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = begun.find((each) => each.status === 'rejected')
  if (failed !== undefined) {
    await Promise.allSettled(patrols.map((patrol) => patrol.end('unused')))
    throw failed.reason
  }
  let held: Pick<Patrol, 'end'> | undefined
  let ending: Promise<EndedPatrol> | undefined
  const files = writeFiles(real, folders)
  const linked = patrols.map((patrol) => patrol.links).join()
  const redirectedIn = (found: readonly FoundObject[]) => {
    const { places, missing } = onlyOrdinary(() =>
      lookOnce(() => {
        for (const { path, object } of found) if (object === 'link') lstatSync(pathFor(path), { throwIfNoEntry: false })
        return redirectsOf(found, folders, home)
      }),
    )
    return {
      places: places.filter(({ path }) => isBelow(folders, path)),
      missing: missing.filter((path) => isBelow(folders, path)),
    }
  }
  const toSeal = (found: readonly FoundObject[], redirected: readonly RealObject[]): readonly RealObject[] => {
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
    // Where nothing was made, the names are the same as before.
    const found = patrols.flatMap((patrol, at) => ended[at]?.found ?? patrol.found)
    return { violations, next: attempt(() => toSeal(found, redirectedIn(found).places)) }
  }
  // A call that fails after its end asks twice. The roots are searched once.
  const end = (use: 'used' | 'unused') => (ending ??= endAll(use))
  try {
    const found = patrols.flatMap((patrol) => patrol.found)
    const { places: redirected, missing } = redirectedIn(found)
    const named = toSeal(found, redirected)
    const roots = [...folders, ...files]
    const namedPaths = named.map(({ path }) => path)
    const others = (await otherNamesOf(watcher, linked, roots, namedPaths)).flatMap(realObjectAt)
    const sealed = others.length === 0 ? named : withoutRepeats([...named, ...others])
    refuseTooManySeals(sealed, folders)
    const hold = async (carved: CarvedOut) => {
      if (carved.paths.length > 0) await refuseOtherNames(watcher, linked, roots, carved, sealed)
      // The watcher knows the protected names and the targets of their links. It needs the others. A link is put back,
      // so only its folder has to stay.
      const names = [
        ...carved.paths,
        ...[...redirected, ...others].map(({ path }) => path),
        ...missingCarveOuts(real).filter((path) => !isBelow(folders, path)),
        ...guarded.map(parentOf),
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

const withoutRepeats = (places: readonly RealObject[]): readonly RealObject[] => [
  ...new Map(places.map((place) => [place.path, place])).values(),
]

/** The folders that are write roots. A folder inside another one is watched with it. */
const writeFolders = (boundary: Boundary): readonly AbsolutePath[] => {
  const paths = plainGrants(boundary).map(({ base }) => base)
  const folders = [...new Set(paths)].filter((path) => objectAt(path) === 'directory')
  return folders.filter((folder) => !isBelow(folders, folder))
}

/** Single files that the tool may write, outside of write roots. */
const writeFiles = (boundary: Boundary, folders: readonly AbsolutePath[]): readonly AbsolutePath[] =>
  plainGrants(boundary)
    .map(({ base }) => base)
    .filter((path) => !isBelow(folders, path) && objectAt(path) === 'file')

/** A mount cannot seal a link. The watcher restores a link that was changed. */
const sealable = (boundary: Boundary, { path, object }: FoundObject): readonly RealObject[] => {
  if (object === 'link' || plainGrants(boundary).some(({ base }) => base === path)) return []
  const entry = PROTECTED_NAMES.find(({ name }) => path.endsWith(`/${name}`))
  return entry !== undefined && isNamedBy(boundary.write, entry, path) ? [] : [{ path, object }]
}

const MOST_SEALED = 1_000

/** Refuses a call with more protected names than a cell can seal, and says where they lie. */
const refuseTooManySeals = (sealed: readonly RealObject[], roots: readonly AbsolutePath[]): void => {
  if (sealed.length <= MOST_SEALED) return
  const [folder, names] = [fullestFolder(sealed, roots), byName(sealed)]
  const most = names.slice(0, 3).map(([name, paths]) => `${paths.length} × ${name}, such as ${paths[0] ?? ''}`)
  throw fail('plan-rejected', {
    problem:
      `the write roots hold ${sealed.length} protected names, more than ${MOST_SEALED} ` +
      `(${most.join('; ')}); most lie in ${folder}; list them with: find ${quotedWord(folder)} -name ` +
      `${quotedWord(names[0]?.[0] ?? '')} -prune; then move or remove that folder, or grant smaller folders`,
  })
}

/** The deepest folder that contains more than half of them. */
const fullestFolder = (sealed: readonly RealObject[], roots: readonly AbsolutePath[]): AbsolutePath => {
  const within = (folder: AbsolutePath) => sealed.filter(({ path }) => path !== folder && isWithinPath(path, folder))
  let fullest = roots.reduce(
    (best, root) => (within(root).length > within(best).length ? root : best),
    roots[0] ?? ('/' as AbsolutePath),
  )
  for (;;) {
    const counts = new Map<AbsolutePath, number>()
    for (const { path } of within(fullest)) {
      const end = path.indexOf('/', fullest.length + 1)
      const child = path.slice(0, end < 0 ? undefined : end) as AbsolutePath
      if (end >= 0) counts.set(child, (counts.get(child) ?? 0) + 1)
    }
    const [next] = [...counts].filter(([, count]) => count * 2 > sealed.length)
    if (next === undefined) return fullest
    fullest = next[0]
  }
}

/** The most frequent name first. */
const byName = (sealed: readonly RealObject[]): readonly (readonly [string, readonly AbsolutePath[]])[] => {
  const byName = new Map<string, AbsolutePath[]>()
  for (const { path } of sealed) {
    const paths = byName.get(basename(path))
    if (paths === undefined) byName.set(basename(path), [path])
    else paths.push(path)
  }
  return [...byName].sort(([, left], [, right]) => right.length - left.length)
}
