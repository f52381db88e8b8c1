import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { isReadable, isWithinPath, isWritable, parentOf, parseAbsolutePath, protectionOf } from '../../policy/index.js'

import type { OpenEvent } from './events.js'
import type { RefusedOpen } from './violations.js'

export interface ObservedCell {
  readonly boundary: Boundary
  /** The private folder of the cell, where it may do what it likes. */
  readonly temporary: AbsolutePath
  /** The object that a path names on the host, links resolved; undefined when there is none. */
  readonly realPathOf: (path: AbsolutePath) => Promise<AbsolutePath | undefined>
}

/**
 * Which observed opens were refused by the boundary, and not because there is nothing to open: of a
 * read the object exists on the host, of a write its folder does.
 */
export const refusedOpens = async (
  opens: readonly OpenEvent[],
  cell: ObservedCell,
): Promise<readonly RefusedOpen[]> => {
  const refused = new Map<string, RefusedOpen>()
  // One after the other, and never in the event loop: the tool chose the paths, and may have planted links on them.
  for (const open of opens) {
    const found = await refusal(open, cell)
    if (found !== undefined) refused.set(`${found.access} ${found.path}\0${found.openedAs}`, found)
  }
  return [...refused.values()]
}

const refusal = async (
  { path: text, access: tried, withheld }: OpenEvent,
  cell: ObservedCell,
): Promise<RefusedOpen | undefined> => {
  const path = normal(text)
  if (path === undefined || isOwnView(path)) return undefined
  const there = await cell.realPathOf(path)
  if (tried === 'new' && there !== undefined) return undefined
  const real = there ?? (tried === 'make' || tried === 'new' ? await inRealFolder(path, cell) : undefined)
  const access = tried === 'read' ? 'read' : 'write'
  if (real === undefined || isGranted(real, access, withheld, cell)) return undefined
  const protection = access === 'write' ? protectionOf(cell.boundary.write, real) : undefined
  const reason: RefusedOpen['reason'] =
    protection === undefined ? { kind: 'not-granted' } : { kind: 'protected', because: protection.entry.because }
  return { kind: 'file', access, path: real, openedAs: path, reason }
}

const isGranted = (
  path: AbsolutePath,
  access: 'read' | 'write',
  withheld: boolean,
  { boundary, temporary }: ObservedCell,
): boolean => {
  if (access === 'read') return isReadable(boundary, path)
  // Its private folder is the tool's to write; what is granted beneath it for reading is not, nor what only the host
  // has there.
  return isWritable(boundary, path) || (!withheld && isWithinPath(path, temporary) && !isReadable(boundary, path))
}

/** Where something would be made; undefined where its folder is not there. */
const inRealFolder = async (path: AbsolutePath, cell: ObservedCell): Promise<AbsolutePath | undefined> => {
  const folder = await cell.realPathOf(parentOf(path))
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

// The cell has its own: what is missing there is missing for everybody, whatever the host has. Figures of the machine
// (cgroups, processors, pages) are asked for by run-times such as Node's and Java's whenever they start.
const OWN_VIEWS =
  /^\/(?:proc|dev\/(?:null|zero|full|u?random|tty|ptmx|pts|shm|fd|std(?:in|out|err))|sys\/(?:fs\/cgroup|devices\/system|kernel\/mm))(?:\/|$)/

const isOwnView = (path: AbsolutePath): boolean => OWN_VIEWS.test(path)
