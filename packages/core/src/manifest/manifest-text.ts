import { stringify } from 'yaml'

import { fail } from '../errors/index.js'
import { canonicalJson, hashOf } from '../gate/index.js'
import type { JsonValue } from '../gate/index.js'
import { readDocument } from '../policy/index.js'
import { placeInFile } from '../shapes/index.js'

import { MANIFEST_FORMAT, manifestShape } from './manifest.js'
import type { Manifest, ManifestContent } from './manifest.js'

export const manifestOf = (content: ManifestContent): Manifest => ({
  format: MANIFEST_FORMAT,
  hash: contentHash(content),
  agents: content.agents,
  tags: content.tags,
})

/** One text per manifest. Its lines are for people, and a difference shows what changed. */
export const manifestJson = (manifest: Manifest): string => `${JSON.stringify(inOrder(manifest), undefined, 2)}\n`

export const manifestYaml = (manifest: Manifest): string =>
  stringify(inOrder(manifest), { lineWidth: 0, aliasDuplicateObjects: false })

/** The form and the hash stand first. Within them, all keys are in the order of RFC 8785. */
const inOrder = ({ format, hash, ...content }: Manifest): object => ({
  format,
  hash,
  ...(JSON.parse(canonicalJson(content as unknown as JsonValue)) as object),
})

/** Reads JSON or YAML. `hash-differs`: somebody changed the content by hand. */
export const readManifest = (
  text: string,
  file: string,
): { readonly manifest: Manifest; readonly problem: 'hash-differs' | undefined } => {
  const value = parse(text, file)
  try {
    const manifest = manifestShape.read(value, placeInFile(file))
    return { manifest, problem: contentHash(manifest) === manifest.hash ? undefined : 'hash-differs' }
  } catch (error) {
    throw fail('manifest-invalid', { problem: (error as Error).message })
  }
}

/** JSON.parse takes a hundredth of the time of the YAML parser. */
const parse = (text: string, file: string): unknown => {
  if (!text.startsWith('{')) return readDocument(text, file).value
  try {
    return JSON.parse(text)
  } catch (error) {
    throw fail('manifest-invalid', { problem: `${file}: ${(error as Error).message}` })
  }
}

const contentHash = ({ agents, tags }: ManifestContent): string => hashOf({ agents, tags } as unknown as JsonValue)
