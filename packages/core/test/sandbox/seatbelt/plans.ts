// Plans of a Mac that is not here: its files are named, and need not exist.
import { parsePolicy, resolvePolicy } from '../../../src/policy/index.js'
import type { Boundary, PathPattern } from '../../../src/policy/index.js'
import type { SeatbeltPlan } from '../../../src/sandbox/seatbelt/profile-text.js'
import { path } from '../../policy/places.js'

export const HOME = '/Users/ann'
export const WORK = `${HOME}/project`
export const TEMPORARY = '/private/var/folders/zz/T/cordon-0a1b'
export const PORT = 49200

const PLACES = { workspace: path(WORK), home: path(HOME), kind: 'process' as const }

export const boundaryOnMac = (policy: unknown): Boundary => resolvePolicy(parsePolicy(policy, 'test'), PLACES)

const placesOf = (patterns: readonly PathPattern[]) =>
  patterns
    .filter(({ negated }) => !negated)
    .map(({ base }) => ({
      path: base,
      object: /\.(?:txt|json|key)$/.test(base) ? ('file' as const) : ('directory' as const),
    }))

export const planOf = (policy: unknown, changes: Partial<SeatbeltPlan> = {}): SeatbeltPlan => {
  const { read, write } = boundaryOnMac(policy)
  return {
    read: placesOf(read),
    write: placesOf(write),
    patterns: { read, write },
    exec: [path('/bin/cat')],
    network: 'none',
    temporary: path(TEMPORARY),
    cwd: path(WORK),
    mayFork: true,
    ...changes,
  }
}
