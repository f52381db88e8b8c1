import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

import { fail } from '../../errors/index.js'
import { carveOut, isWithinPath, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'

import type { LedgerSettings } from './call-store.js'

/**
 * The boundary of a tool without the store of the books, where that is on this host: whoever reaches its socket or its folder
 * speaks for everybody, and approves what they like. Where a grant begins in there nothing would be left of it, and the tool is refused.
 */
export const shieldBooks = (boundary: Boundary, settings: LedgerSettings | undefined): Boundary => {
  const exposed = placesOf(settings).filter((place) => isReached(place, boundary))
  return exposed.length === 0 ? boundary : { ...boundary, read: [...boundary.read, ...exposed.map(carveOut)] }
}

const UNIX = 'unix:'

const placesOf = (settings: LedgerSettings | undefined): readonly AbsolutePath[] => {
  if (settings === undefined) return []
  if ('engine' in settings) return isAbsolute(settings.engine.where) ? [parseAbsolutePath(settings.engine.where)] : []
  if (!settings.server.startsWith(UNIX)) return []
  const socket = settings.server.slice(UNIX.length)
  const folder = dirname(socket)
  // Beside the socket of `cordon serve` lies what it serves.
  return [parseAbsolutePath(existsSync(join(folder, 'data', 'PG_VERSION')) ? folder : socket)]
}

const isReached = (place: AbsolutePath, { read, write }: Boundary): boolean => {
  for (const grant of write) if (!grant.negated && isWithinPath(grant.base, place)) throw fail('store-exposed', { place, grant: grant.text })
  return [...read, ...write].some((grant) => !grant.negated && isWithinPath(place, grant.base))
}
