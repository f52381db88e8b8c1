import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { isReadable, isWithinPath, isWritable, parentOf, parseAbsolutePath, protectionOf } from '../../policy/index.js'

import type { OpenEvent } from './events.js'
import type { RefusedOpen } from './violations.js'

interface ObservedCell {
  readonly boundary: Boundary
  /** The private folder of the cell, which the tool may write. */
  readonly temporary: AbsolutePath
  /** The path on the host with links resolved. Undefined if nothing is there. */
  readonly realPathOf: (path: AbsolutePath) => Promise<AbsolutePath | undefined>
}

/**
 * The opens that the boundary refused. Others failed because nothing is there: no object to read, or no folder to write
 * in.
 */
export const refusedOpens = async (
  opens: readonly OpenEvent[],
  cell: ObservedCell,
): Promise<readonly RefusedOpen[]> => {
  const refused = new Map<string, RefusedOpen>()
  // One after the other, and never blocking the event loop: the tool chose the paths, and may have planted links.
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
  if (path === undefined || OWN_VIEWS.test(path)) return undefined
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
  // The tool may write its private folder, but not a path beneath it that is granted for reading or that only the host
  // has.
  return isWritable(boundary, path) || (!withheld && isWithinPath(path, temporary) && !isReadable(boundary, path))
}

/** The real path of a file to be created. Undefined if its folder does not exist. */
const inRealFolder = async (path: AbsolutePath, cell: ObservedCell): Promise<AbsolutePath | undefined> => {
  const folder = await cell.realPathOf(parentOf(path))
  return folder === undefined ? undefined : parseAbsolutePath(`${folder}/${path.slice(path.lastIndexOf('/') + 1)}`)
}

/** Undefined for a name such as `/a/../../b`. */
const normal = (text: string): AbsolutePath | undefined => {
  try {
    return parseAbsolutePath(text)
  } catch {
    return undefined
  }
}

// The cell has its own, so the host's do not count. Runtimes such as Node and Java read figures of the machine
// (cgroups, processors, pages) at every start.
const OWN_VIEWS =
  /^\/(?:proc|dev\/(?:null|zero|full|u?random|tty|ptmx|pts|shm|fd|std(?:in|out|err))|sys\/(?:fs\/cgroup|devices\/system|kernel\/mm))(?:\/|$)/
