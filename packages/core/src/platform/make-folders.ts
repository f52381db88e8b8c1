// Makes a folder with the folders above it, one by one. The recursive `mkdir` of Node never ends below /proc, where
// nobody can make a folder.
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export const makeFolders = (path: string, mode = 0o777): void => {
  if (isFolder(path)) return
  if (dirname(path) !== path) makeFolders(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
