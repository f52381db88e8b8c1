import { dirname } from 'node:path'

import { fail } from '../../errors/index.js'
import { carveOut, isWithinPath, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'

import type { AuditPlaces } from './audit-files.js'

/**
 * The boundary of a tool without the folders of the log and its anchor: they are carved out of what it may
 * read and write, which the cell holds like any other carve-out. Where a grant begins in such a folder
 * nothing would be left of it, and the call is refused.
 */
export const shieldAudit = (boundary: Boundary, places: AuditPlaces): Boundary => {
  const exposed = foldersOf(places).filter((folder) => isReached(folder, boundary, places))
  if (exposed.length === 0) return boundary
  return { ...boundary, read: [...boundary.read, ...exposed.map(carveOut)] }
}

export const foldersOf = (places: AuditPlaces): readonly AbsolutePath[] => [...new Set([places.log, places.anchor].map((path) => parseAbsolutePath(dirname(path))))]

const isReached = (folder: AbsolutePath, { read, write }: Boundary, places: AuditPlaces): boolean => {
  for (const grant of write) {
    if (!grant.negated && isWithinPath(grant.base, folder)) throw fail('audit-exposed', { path: places.log, grant: grant.text })
  }
  return [...read, ...write].some((grant) => !grant.negated && isWithinPath(folder, grant.base))
}
