// The key of a project's manifest: values that may be secrets are hashed with it (decision 43).
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { fail, messageOf } from '../errors/index.js'
import { hasKeyedHash } from '../manifest/index.js'
import type { ManifestKey } from '../manifest/index.js'
import { replaceFile } from '../platform/index.js'
import { MANIFEST_KEY_FILE, readManifestKey } from '../runtime/held/index.js'

import { refuseLinks } from './settings-file.js'

export interface ProjectKey {
  readonly key: ManifestKey
  readonly path: string
  /** The project has none yet. */
  readonly isNew: boolean
}

export const projectKeyIn = (folder: string): ProjectKey => {
  const path = join(folder, MANIFEST_KEY_FILE)
  const found = readManifestKey(path)
  return { key: found ?? randomBytes(32).toString('hex'), path, isNew: found === undefined }
}

/** A manifest with hashes of another key cannot be compared: each value would seem to be another one. */
export const requireKeyOf = (manifestText: string, { isNew, path }: ProjectKey): void => {
  if (isNew && hasKeyedHash(manifestText))
    throw fail('manifest-key-missing', { path, problem: 'there is no such file, and the manifest has hashes of it' })
}

/** A key that nobody keeps would give each finding another fingerprint at the next time. `command` makes the key. */
export const requireKeptKey = (manifestText: string, { isNew, path }: ProjectKey, command: string): void => {
  if (isNew && hasKeyedHash(manifestText)) throw fail('manifest-key-unmade', { path, command })
}

/** Keeps a new key, if the manifest has a hash of it. */
export const keepKeyOf = (manifestText: string, { key, path, isNew }: ProjectKey, folder: string): void => {
  if (!isNew || !hasKeyedHash(manifestText)) return
  try {
    refuseLinks(path, folder)
    mkdirSync(dirname(path), { recursive: true })
    replaceFile(path, `${key}\n`, { mode: 0o600 })
  } catch (error) {
    throw fail('file-unwritable', { path, problem: messageOf(error) }, error)
  }
}
