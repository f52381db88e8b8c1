import { fail } from '../errors/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { PROTECTED_NAMES, isNamedBy, isWithinPath } from '../policy/index.js'

import { realBoundary } from './carve-outs.js'
import { objectAt } from './object-at.js'
import { refuseUngrantable } from './resolve-grant.js'
import type { FoundName, Patrol, Scout } from './scout.js'
import type { Place } from './object-at.js'
import type { Violation } from './violations.js'

/** The watch over the write roots of one call. */
export interface CallPatrol {
  /** Protected and there: to be sealed. */
  readonly sealed: readonly Place[]
  readonly end: () => Promise<readonly Violation[]>
}

const MOST_SEALED = 1_000

export const NO_PATROL: CallPatrol = { sealed: [], end: () => Promise.resolve([]) }

export const beginPatrol = async (scout: Scout, boundary: Boundary, onAppearance: () => void): Promise<CallPatrol> => {
  const real = realBoundary(boundary)
  // Before the scout walks what is refused anyway: the whole file system, for one.
  for (const { negated, kind, base, text } of real.write) if (!negated && kind !== 'pattern') refuseUngrantable(base, 'write', text)
  const begun = await Promise.allSettled(writeFolders(real).map((root) => scout.begin(root, real, onAppearance)))
  const patrols = begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = begun.find((each) => each.status === 'rejected')
  if (failed !== undefined) {
    // One that was never ended would go on to set aside what the user makes.
    await Promise.allSettled(patrols.map(endOf))
    throw failed.reason
  }
  const sealed = patrols.flatMap(({ found }) => found.flatMap((name) => sealable(real, name)))
  const end = async () => (await Promise.all(patrols.map(endOf))).flat()
  if (sealed.length > MOST_SEALED) {
    await end()
    const problem = `the write roots hold ${String(sealed.length)} protected names, more than ${String(MOST_SEALED)}; grant smaller folders`
    throw fail('plan-rejected', { problem })
  }
  return { sealed, end }
}

const endOf = async (patrol: Patrol): Promise<readonly Violation[]> =>
  (await patrol.end()).map((intrusion) => ({ kind: 'protected', ...intrusion }))

/** The folders that are write roots; one that lies in another is watched with it. */
const writeFolders = (boundary: Boundary): readonly AbsolutePath[] => {
  const folders = boundary.write.filter(({ negated, kind, base }) => !negated && kind !== 'pattern' && objectAt(base) === 'directory').map(({ base }) => base)
  const unique = [...new Set(folders)]
  return unique.filter((folder) => !unique.some((other) => other !== folder && isWithinPath(folder, other)))
}

/** A link cannot be sealed by a mount; the scout puts it back when it was changed. */
const sealable = (boundary: Boundary, { path, object }: FoundName): readonly Place[] => {
  if (object === 'link') return []
  const entry = PROTECTED_NAMES.find(({ name }) => path.endsWith(`/${name}`))
  return entry !== undefined && isNamedBy(boundary.write, entry, path) ? [] : [{ path, object }]
}
