// The baseline of `cordon manifest verify`: a file, or the manifest of a commit.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { CordonError, messageOf } from 'cordon/errors'
import { readManifest } from 'cordon/manifest'
import type { Manifest } from 'cordon/manifest'
import { readOrdinaryFile, replaceFile } from 'cordon/runtime'
import { parseAbsolutePath } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'

import type { Environment } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import type { Acceptance } from '../verify/verify.js'

export const MANIFEST_FILE = 'cordon.manifest.json'

export interface Baseline {
  readonly content: ReturnType<typeof readManifest>
  /** Acceptances of the checkout, for a baseline that is a commit. */
  readonly accepted: readonly Acceptance[]
  /** Where acceptances are written. */
  readonly file: string
}

interface Place {
  readonly folder: AbsolutePath
  readonly home: AbsolutePath
  readonly environment: Environment
}

/** By its name alone: a file that a pull request adds must not replace the branch of the same name. */
export const isFileName = (text: string): boolean => /\.(?:json|ya?ml)$/i.test(text)

export const readBaseline = async (given: string, placeOf: () => Place): Promise<Baseline> => {
  if (isFileName(given)) return { content: readManifestFile(given), accepted: [], file: given }
  const place = placeOf()
  const file = join(place.folder, MANIFEST_FILE)
  const { folder: _, ...rest } = place
  // Loads the sandbox.
  const { readGitFile } = await import('./git-file.js')
  const text = await readGitFile({ ...rest, ref: given, path: parseAbsolutePath(file, 'the manifest') })
  return { content: readManifest(text, `${given}:${MANIFEST_FILE}`), accepted: acceptedIn(file), file }
}

export const readManifestFile = (path: string): ReturnType<typeof readManifest> => readManifest(textOf(path), path)

/** A manifest that was not changed by hand. */
export const readIntactManifest = (file: string): Manifest => {
  const { manifest, problem } = readManifestFile(file)
  if (problem !== undefined) throw fail('manifest-invalid', { problem: `the content of ${file} does not fit its hash` })
  return manifest
}

/** The project may have a link at this place. It is replaced, and its target stays as it is. */
export const writeManifestFile = (path: string, text: string): void => {
  try {
    replaceFile(path, text, { mode: { ofNew: 0o666 } })
  } catch (error) {
    throw fail('file-unwritable', { path, problem: messageOf(error) }, error)
  }
}

/** None, if the file does not exist yet or is no manifest. Then nothing is accepted. */
export const acceptedIn = (file: string): readonly Acceptance[] => {
  try {
    return readManifestFile(file).manifest.accepted ?? []
  } catch (error) {
    if (error instanceof CordonError) return []
    throw error
  }
}

/** Empty, if there is no such file. */
export const existingText = (path: string): string => (existsSync(path) ? textOf(path) : '')

const textOf = (path: string): string => {
  try {
    return readOrdinaryFile(path)
  } catch (error) {
    const fix = 'write one: cordon manifest generate; a name without .json or .yaml is a git revision'
    throw fail('file-unreadable', { path, problem: messageOf(error), fix }, error)
  }
}
