// Replaces a file in one step: a reader finds the old or the new content, also after a crash, and nothing else is left.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

export interface ReplaceOptions {
  /** A number: the file gets this mode. `ofNew`: a new file gets it, and an existing file keeps its own. */
  readonly mode: number | { readonly ofNew: number }
  /** `durable` (default): text and name are on the disk at the end. `atomic`: not yet, which is faster. */
  readonly sync?: 'durable' | 'atomic'
  /** Asked right before the new text gets the name. If the answer is no, the file stays as it is. */
  readonly onlyIf?: () => boolean
}

/** If the path is a link, the link is replaced, and its target stays. Returns whether the file was replaced. */
export const replaceFile = (
  path: string,
  text: string,
  { mode, sync = 'durable', onlyIf = () => true }: ReplaceOptions,
): boolean => {
  const old = lstatSync(path, { throwIfNoEntry: false })
  const kept = typeof mode === 'number' ? mode : old?.isFile() === true ? old.mode & 0o777 : undefined
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
  const descriptor = openSync(temporary, flags, typeof mode === 'number' ? mode : mode.ofNew)
  try {
    try {
      if (kept !== undefined) fchmodSync(descriptor, kept)
      writeFileSync(descriptor, text)
      if (sync === 'durable') fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    if (!onlyIf()) return false
    renameSync(temporary, path)
  } finally {
    rmSync(temporary, { force: true })
  }
  if (sync === 'durable') syncFolder(dirname(path))
  return true
}

/** Otherwise the new name may be lost in a power cut. */
const syncFolder = (path: string): void => {
  const folder = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
