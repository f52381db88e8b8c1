// Root's tools have no capability and cannot change other users' folders, as in a container with a mounted workspace.
// So a call whose write roots all belong to one other user runs as that user.
import type { Stats } from 'node:fs'

import { statSync } from '../../platform/index.js'
import { fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { parentOf } from '../../policy/index.js'

/** The user of a cell's processes, if it is not the user of Cordon. */
export interface Identity {
  readonly uid: number
  readonly gid: number
}

/** Undefined if the write roots are root's, of several owners, or missing. */
export const ownerOf = ({ read, write }: Boundary, cwd: AbsolutePath): Identity | undefined => {
  const grants = (patterns: Boundary['read']) => patterns.filter(({ negated }) => !negated).map(({ base }) => base)
  const owners = grants(write).flatMap((path) => statusAt(path) ?? [])
  const [first] = owners
  if (first === undefined || first.uid === 0 || owners.some(({ uid }) => uid !== first.uid)) return undefined
  const identity = { uid: first.uid, gid: first.gid }
  const closed = [...grants(read), ...grants(write), cwd].find(
    (path) => statusAt(path) !== undefined && !canReach(identity, path),
  )
  if (closed !== undefined)
    throw fail('owner-shut-out', {
      root: grants(write)[0] ?? cwd,
      uid: String(identity.uid),
      gid: String(identity.gid),
      path: closed,
    })
  return identity
}

/** Whether every folder above a path lets the user pass. */
export const canReach = (identity: Identity, path: AbsolutePath): boolean => {
  const folder = parentOf(path)
  if (folder === path) return true
  const status = statusAt(folder)
  return status !== undefined && mayPass(identity, status) && canReach(identity, folder)
}

const SEARCH = 0o1

const mayPass = ({ uid, gid }: Identity, { uid: owner, gid: group, mode }: Stats): boolean =>
  ((owner === uid ? mode >> 6 : group === gid ? mode >> 3 : mode) & SEARCH) !== 0

const statusAt = (path: AbsolutePath): Stats | undefined => statSync(path, { throwIfNoEntry: false })
