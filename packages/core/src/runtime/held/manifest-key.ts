import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

import { fail, messageOf } from '../../errors/index.js'
import { isManifestKey } from '../../manifest/index.js'
import type { ManifestKey } from '../../manifest/index.js'

/** In the folder of the project. */
export const MANIFEST_KEY_FILE = '.cordon/manifest.key'

/** Undefined: there is no such file. */
export const readManifestKey = (path: string): ManifestKey | undefined => {
  const text = textOf(path)
  if (text === undefined) return undefined
  if (isManifestKey(text.trim())) return text.trim()
  throw fail('manifest-key-missing', { path, problem: 'it is not 64 hexadecimal digits' })
}

/** The project may have a pipe or a device there. O_NONBLOCK: a pipe would wait. */
const textOf = (path: string): string | undefined => {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!fstatSync(descriptor).isFile()) throw new Error('it is not a file')
    return readFileSync(descriptor, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fail('manifest-key-missing', { path, problem: messageOf(error) }, error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
