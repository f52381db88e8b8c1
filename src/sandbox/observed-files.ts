import type { AbsolutePath, Boundary } from '../policy/index.js'
import { isReadable, isWithinPath, isWritable, parentOf, parseAbsolutePath, protectionOf } from '../policy/index.js'

import type { OpenEvent } from './events.js'
import type { RefusedOpen } from './violations.js'

export interface ObservedCell {
  readonly boundary: Boundary
  /** The private folder of the cell, where it may do what it likes. */
  readonly temporary: AbsolutePath
  /** The object that a path names on the host, links resolved; undefined when there is none. */
  readonly realPathOf: (path: AbsolutePath) => AbsolutePath | undefined
}

/**
 * Which observed opens were refused by the boundary, and not because there is nothing to open: of a
 * read the object exists on the host, of a write its folder does.
 */
export const refusedOpens = (opens: readonly OpenEvent[], cell: ObservedCell): readonly RefusedOpen[] => {
  const refused = opens.flatMap((open) => refusal(open, cell))
  return refused.filter(({ path, access, openedAs }, at) => refused.findIndex((other) => other.path === path && other.access === access && other.openedAs === openedAs) === at)
}

const refusal = ({ path: text, access, withheld }: OpenEvent, cell: ObservedCell): readonly RefusedOpen[] => {
  const path = normal(text)
  if (path === undefined || isOwnView(path)) return []
  const real = cell.realPathOf(path) ?? (access === 'write' ? inRealFolder(path, cell) : undefined)
  if (real === undefined || isGranted(real, access, withheld, cell)) return []
  const protection = access === 'write' ? protectionOf(cell.boundary.write, real) : undefined
  const reason: RefusedOpen['reason'] = protection === undefined ? { kind: 'not-granted' } : { kind: 'protected', because: protection.entry.because }
  return [{ kind: 'file', access, path: real, openedAs: path, reason }]
}

const isGranted = (path: AbsolutePath, access: 'read' | 'write', withheld: boolean, { boundary, temporary }: ObservedCell): boolean => {
  if (access === 'read') return isReadable(boundary, path)
  // Its private folder is the tool's to write; what is granted beneath it for reading is not, nor what only the host has there.
  return isWritable(boundary, path) || (!withheld && isWithinPath(path, temporary) && !isReadable(boundary, path))
}

const inRealFolder = (path: AbsolutePath, cell: ObservedCell): AbsolutePath | undefined => {
  const folder = cell.realPathOf(parentOf(path))
  return folder === undefined ? undefined : parseAbsolutePath(`${folder}/${path.slice(path.lastIndexOf('/') + 1)}`)
}

/** A name such as `/a/../../b` is no path of ours to judge. */
const normal = (text: string): AbsolutePath | undefined => {
  try {
    return parseAbsolutePath(text)
  } catch {
    return undefined
  }
}

// The cell has its own: what is missing there is missing for everybody, whatever the host has.
const OWN_VIEWS = /^\/(?:proc|dev\/(?:null|zero|full|u?random|tty|ptmx|pts|shm|fd|std(?:in|out|err)))(?:\/|$)/

const isOwnView = (path: AbsolutePath): boolean => OWN_VIEWS.test(path)
