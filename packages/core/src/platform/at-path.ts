// What is at a path. To callers of these functions, what this user cannot see is the same as what is not there.
import { closeSync, constants, fstatSync } from 'node:fs'
import type { PathLike, Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { lstatSync, openSync, readFileSync, readdirSync, readlinkSync, realpathSync, statSync } from './look.js'

/** What `look` returns. It may only read from the file system. */
export const ifSeen = <Seen>(look: () => Seen): Seen | undefined => {
  try {
    return look()
  } catch {
    return undefined
  }
}

export const realPathOf = (path: string): string | undefined => ifSeen(() => realpathSync(path))

/** In the real folder, with its own name: if it is a link, that is not followed. */
export const realPlaceOf = (path: string): string => join(realPathOf(dirname(path)) ?? dirname(path), basename(path))

/** The text of a link. */
export const readLink = (path: string): string | undefined => ifSeen(() => readlinkSync(path))

/** Links are followed. */
export const statusAt = (path: string): Stats | undefined => ifSeen(() => statSync(path, { throwIfNoEntry: false }))

/** Links are not followed. */
export const linkStatusAt = (path: string): Stats | undefined =>
  ifSeen(() => lstatSync(path, { throwIfNoEntry: false }))

export const isLink = (path: string): boolean => linkStatusAt(path)?.isSymbolicLink() === true

export const namesInFolder = (folder: string): readonly string[] => ifSeen(() => readdirSync(folder)) ?? []

export const textOfFile = (path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | undefined =>
  ifSeen(() => readFileSync(path, encoding))

/** Also undefined if the file is no JSON, or no ordinary file. */
export const jsonOfFile = (path: string): unknown => ifSeen(() => JSON.parse(readOrdinaryFile(path)) as unknown)

const MOST_BYTES = 16 * 1024 * 1024

/**
 * The text of an ordinary file. A project may have a pipe or a device there, whose text never ends. O_NONBLOCK: to open
 * a pipe would wait for a writer. Throws if it cannot be read.
 */
export const readOrdinaryFile = (path: PathLike): string => {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const status = fstatSync(descriptor)
    if (!status.isFile()) throw new Error('it is not a file')
    if (status.size > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES / 1024 / 1024} MiB`)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}
