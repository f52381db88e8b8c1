import { readFileSync } from 'node:fs'

import { fail, messageOf } from '../../errors/index.js'
import { readManifest } from '../../manifest/index.js'

import type { CordonOptions } from '../cordon-options.js'
import type { EventContext } from '../events/event.js'

/** The context of all events, with the hash of the manifest. */
export const contextOf = ({
  context,
  manifest,
}: Pick<CordonOptions, 'context' | 'manifest'>): EventContext | undefined =>
  manifest === undefined ? context : { ...context, manifest_hash: hashIn(manifest) }

const hashIn = (given: string): string => {
  if (/^sha256:[0-9a-f]{64}$/.test(given)) return given
  const { manifest, problem } = readManifest(textOf(given), given)
  if (problem === undefined) return manifest.hash
  throw fail('manifest-invalid', { problem: `${given}: its hash is not that of its content` })
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fail('manifest-invalid', { problem: messageOf(error) }, error)
  }
}
