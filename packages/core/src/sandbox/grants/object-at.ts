// The objects of the host: their kind, their real path, their status.
import { closeSync, constants, fstatSync, realpath } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { promisify } from 'node:util'

import {
  accessSync,
  ifSeen,
  lstatSync,
  openSync,
  readlinkSync,
  realPathOf as realPathAt,
} from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { pathFor, textOfName } from './file-names.js'

/** Loading `node:fs/promises` for it would take a millisecond of every start. */
const realPath = promisify(realpath.native)

export type ObjectKind = 'file' | 'directory' | 'link' | 'device' | 'other'

/** Links are not followed. Undefined if there is nothing, or it cannot be seen. */
export const objectAt = (path: AbsolutePath): ObjectKind | undefined => {
  const status = statusOf(path)
  return status === undefined ? undefined : kindOf(status)
}

export const kindOf = (status: Stats | Dirent | Dirent<Buffer>): ObjectKind => {
  if (status.isDirectory()) return 'directory'
  if (status.isFile()) return 'file'
  if (status.isSymbolicLink()) return 'link'
  return status.isCharacterDevice() || status.isBlockDevice() ? 'device' : 'other'
}

export interface FoundObject {
  readonly path: AbsolutePath
  readonly object: ObjectKind
}

/** An object that a mount or a Landlock rule can be for. A link has no content of its own. */
export interface RealObject extends FoundObject {
  readonly object: Exclude<ObjectKind, 'link'>
}

export const realObjectAt = (path: AbsolutePath): readonly RealObject[] => {
  const object = objectAt(path)
  return object === undefined || object === 'link' ? [] : [{ path, object }]
}

/** A descriptor to read from. Undefined unless it is a regular file: opening a pipe would wait for its other end. */
export const openFile = (path: string): number | undefined => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  return undefined
}

/** Links resolved. Undefined if nothing is there. */
export const realPathOf = realPathAt as (path: string) => AbsolutePath | undefined

/** The same without blocking the event loop. */
export const findRealPath = async (path: string): Promise<AbsolutePath | undefined> => {
  try {
    return (await realPath(path)) as AbsolutePath
  } catch {
    return undefined
  }
}

/** Links are not followed. Undefined if there is nothing, or it cannot be seen. */
export const statusOf = (path: AbsolutePath): Stats | undefined =>
  ifSeen(() => lstatSync(pathFor(path), { throwIfNoEntry: false }))

export interface Link {
  readonly path: AbsolutePath
  readonly target: string
}

export const linkAt = (path: AbsolutePath): Link => ({
  path,
  target: textOfName(readlinkSync(pathFor(path), 'buffer')),
})

/** By this user. Links are followed. */
export const isExecutable = (path: string): boolean => {
  try {
    accessSync(pathFor(path), constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Sorted, each once. */
export const pathsOf = (places: readonly Pick<RealObject, 'path'>[]): readonly AbsolutePath[] =>
  [...new Set(places.map(({ path }) => path))].sort()
