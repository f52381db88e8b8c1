import { lstatSync, readlinkSync } from 'node:fs'
import type { Stats } from 'node:fs'

import type { AbsolutePath } from '../policy/index.js'

import { pathFor, textOfName } from './file-names.js'

export type ObjectKind = 'file' | 'directory' | 'link' | 'device' | 'other'

/** What is at a path, without following a link; undefined when nothing is, or it cannot be seen. */
export const objectAt = (path: AbsolutePath): ObjectKind | undefined => {
  const status = statusOf(path)
  if (status === undefined) return undefined
  if (status.isDirectory()) return 'directory'
  if (status.isFile()) return 'file'
  if (status.isSymbolicLink()) return 'link'
  return status.isCharacterDevice() || status.isBlockDevice() ? 'device' : 'other'
}

const statusOf = (path: AbsolutePath): Stats | undefined => {
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

export const linkAt = (path: AbsolutePath): Link => ({ path, target: textOfName(readlinkSync(pathFor(path), 'buffer')) })
