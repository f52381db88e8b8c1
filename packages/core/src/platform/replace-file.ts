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

/**
 * In one step: after a crash the file has its old or its new content, and nothing else is left. A file keeps its mode.
 * A link is replaced, and its target stays as it is.
 */
export const replaceFile = (path: string, text: string, modeOfNew: number): void => {
  const old = lstatSync(path, { throwIfNoEntry: false })
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  const descriptor = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, modeOfNew)
  try {
    try {
      if (old?.isFile() === true) fchmodSync(descriptor, old.mode & 0o777)
      writeFileSync(descriptor, text)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(path))
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
