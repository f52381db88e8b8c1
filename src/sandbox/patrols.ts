import { fail } from '../errors/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { PROTECTED_NAMES, isNamedBy, isWithinPath } from '../policy/index.js'

import { realBoundary } from './carve-outs.js'
import { createRedirects } from './git-redirects.js'
import { objectAt } from './object-at.js'
import { refuseUngrantable } from './resolve-grant.js'
import type { FoundName, Patrol, Scout } from './scout.js'
import type { Place } from './object-at.js'
import type { Violation } from './violations.js'

/** The watch over the write roots of one call. */
export interface CallPatrol {
  /** Protected and there: to be sealed. */
  readonly sealed: readonly Place[]
  /** Also watches what the policy carves out, there already or not. */
  readonly hold: (carved: readonly AbsolutePath[]) => Promise<void>
  readonly end: () => Promise<readonly Violation[]>
}

const MOST_SEALED = 1_000

const redirects = createRedirects()

export const NO_PATROL: CallPatrol = { sealed: [], hold: () => Promise.resolve(), end: () => Promise.resolve([]) }

export const beginPatrol = async (scout: Scout, boundary: Boundary, onAppearance: () => void): Promise<CallPatrol> => {
  const real = realBoundary(boundary)
  // Before the scout walks what is refused anyway: the whole file system, for one.
  for (const { negated, kind, base, text } of real.write) if (!negated && kind !== 'pattern') refuseUngrantable(base, 'write', text)
  const folders = writeFolders(real)
  const begun = await Promise.allSettled(folders.map((root) => scout.begin(root, real, onAppearance)))
  const patrols = begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = begun.find((each) => each.status === 'rejected')
  if (failed !== undefined) {
    // One that was never ended would go on to set aside what the user makes.
    await Promise.allSettled(patrols.map((patrol) => patrol.end()))
    throw failed.reason
  }
  let held: Pick<Patrol, 'end'> | undefined
  let ending: Promise<readonly Violation[]> | undefined
  const endAll = async () => (await Promise.all([...patrols, ...(held === undefined ? [] : [held])].map((patrol) => patrol.end()))).flat()
  // A call that is refused after it has ended asks twice; what it left is looked at once.
  const end = () => (ending ??= endAll())
  try {
    const found = patrols.flatMap((patrol) => patrol.found)
    const redirected = redirects.of(found, folders).filter(({ path }) => isBelow(folders, path))
    const sealed = withoutRepeats([...found, ...redirected].flatMap((name) => sealable(real, name)))
    if (sealed.length > MOST_SEALED) {
      const problem = `the write roots hold ${String(sealed.length)} protected names, more than ${String(MOST_SEALED)} (${describeMost(sealed)}); remove them, or grant smaller folders`
      throw fail('plan-rejected', { problem })
    }
    const hold = async (carved: readonly AbsolutePath[]) => {
      // The scout knows the protected names, and what their links lead to; the rest it must be told.
      const names = [...carved, ...redirected.map(({ path }) => path), ...missingElsewhere(real, folders)]
      if (names.length > 0) held = await scout.hold(names, onAppearance)
    }
    return { sealed, hold, end }
  } catch (error) {
    await end()
    throw error
  }
}

/** Which names there are so many of, and one of each. */
const describeMost = (sealed: readonly Place[]): string => {
  const byName = new Map<string, { readonly example: AbsolutePath; readonly count: number }>()
  for (const { path } of sealed) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const known = byName.get(name)
    byName.set(name, { example: known?.example ?? path, count: (known?.count ?? 0) + 1 })
  }
  const most = [...byName].sort(([, left], [, right]) => right.count - left.count).slice(0, 3)
  return most.map(([name, { example, count }]) => `${String(count)} × ${name}, such as ${example}`).join('; ')
}

/** Carved out, not there yet, and in no write root, where the scout has an eye on it anyway. */
const missingElsewhere = ({ read, write }: Boundary, folders: readonly AbsolutePath[]): readonly AbsolutePath[] =>
  [...read, ...write]
    .filter(({ negated, kind, base }) => negated && kind !== 'pattern' && !isBelow(folders, base) && objectAt(base) === undefined)
    .map(({ base }) => base)

const isBelow = (folders: readonly AbsolutePath[], path: AbsolutePath): boolean => folders.some((folder) => path !== folder && isWithinPath(path, folder))

const withoutRepeats = (places: readonly Place[]): readonly Place[] => [...new Map(places.map((place) => [place.path, place])).values()]

/** The folders that are write roots; one that lies in another is watched with it. */
const writeFolders = (boundary: Boundary): readonly AbsolutePath[] => {
  const folders = boundary.write.filter(({ negated, kind, base }) => !negated && kind !== 'pattern' && objectAt(base) === 'directory').map(({ base }) => base)
  const unique = [...new Set(folders)]
  return unique.filter((folder) => !unique.some((other) => other !== folder && isWithinPath(folder, other)))
}

/** A link cannot be sealed by a mount; the scout puts it back when it was changed. */
const sealable = (boundary: Boundary, { path, object }: FoundName): readonly Place[] => {
  const isNamedItself = boundary.write.some(({ negated, kind, base }) => !negated && kind !== 'pattern' && base === path)
  if (object === 'link' || isNamedItself) return []
  const entry = PROTECTED_NAMES.find(({ name }) => path.endsWith(`/${name}`))
  return entry !== undefined && isNamedBy(boundary.write, entry, path) ? [] : [{ path, object }]
}
