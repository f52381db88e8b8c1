import { codeOf, fail, messageOf } from '../../errors/index.js'
import { isManifestKey } from '../../manifest/index.js'
import type { ManifestKey } from '../../manifest/index.js'
import { readOrdinaryFile } from '../../platform/index.js'

/** In the folder of the project. */
export const MANIFEST_KEY_FILE = '.cordon/manifest.key'

/** Undefined: there is no such file. */
export const readManifestKey = (path: string): ManifestKey | undefined => {
  const text = textOf(path)
  if (text === undefined) return undefined
  if (isManifestKey(text.trim())) return text.trim()
  throw fail('manifest-key-missing', { path, problem: 'it is not 64 hexadecimal digits' })
}

const textOf = (path: string): string | undefined => {
  try {
    return readOrdinaryFile(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw fail('manifest-key-missing', { path, problem: messageOf(error) }, error)
  }
}
