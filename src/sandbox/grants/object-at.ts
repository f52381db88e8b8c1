import { accessSync, constants, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { realpath } from 'node:fs/promises'

import type { AbsolutePath } from '../../policy/index.js'

import { pathFor, textOfName } from './file-names.js'

export type ObjectKind = 'file' | 'directory' | 'link' | 'device' | 'other'

/** What is at a path, without following a link; undefined when nothing is, or it cannot be seen. */
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

/** An object that a mount or a Landlock rule can hold: a link carries no content of its own. */
export interface Place {
  readonly path: AbsolutePath
  readonly object: Exclude<ObjectKind, 'link'>
}

/** The place at a path, or none. */
export const placeAt = (path: AbsolutePath): readonly Place[] => {
  const object = objectAt(path)
  return object === undefined || object === 'link' ? [] : [{ path, object }]
}

/** Links resolved; undefined when nothing is there. */
export const realPathOf = (path: string): AbsolutePath | undefined => {
  try {
    return realpathSync(path) as AbsolutePath
  } catch {
    return undefined
  }
}

/** The same, beside the event loop. */
export const findRealPath = async (path: string): Promise<AbsolutePath | undefined> => {
  try {
    return (await realpath(path)) as AbsolutePath
  } catch {
    return undefined
  }
}

/** Without following a link; undefined when nothing is there, or it cannot be seen. */
export const statusOf = (path: AbsolutePath): Stats | undefined => {
  try {
    return lstatSync(pathFor(path), { throwIfNoEntry: false })
  } catch {
    return undefined // beneath a file, in a closed folder, or longer than a path can be
  }
}

export interface Link {
  readonly path: AbsolutePath
  readonly target: string
}

export const linkAt = (path: AbsolutePath): Link => ({
  path,
  target: textOfName(readlinkSync(pathFor(path), 'buffer')),
})

/** By this user, links followed. */
export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
