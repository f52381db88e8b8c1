// What a search would find although no grant lets a tool read it. The folder of a search is granted, and carve-outs may
// lie in it. No cell hides them, because the agent itself searches.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'

import { isWithinPath } from '../policy/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { resolveOnHost } from '../runtime/settings/index.js'
import { surveyCarveOuts } from '../sandbox/index.js'

import type { Search } from './agent.js'

interface Places {
  readonly cwd: AbsolutePath
  readonly home: AbsolutePath
}

/** Existing files and folders. The gate, which judges `path` too, denies what cannot be resolved. */
export const hiddenFromSearch = (
  { path, takes }: Search,
  boundary: Boundary,
  { cwd, home }: Places,
): readonly AbsolutePath[] => {
  const text = path.trim()
  const found = resolveOnHost(resolve(cwd, /^~(?:\/|$)/.test(text) ? `${home}${text.slice(1)}` : text))
  if (found.kind === 'unknown' || !found.exists || !isFolder(found.path)) return []
  const folder = found.path
  const { hidden } = surveyCarveOuts(boundary, [{ path: folder, object: 'directory' }])
  return (
    hidden
      // The name of a file is no secret: a cell shows it, too.
      .filter(
        ({ path: place, object }) => isWithinPath(place, folder) && (takes === 'contents' || object === 'directory'),
      )
      .map(({ path: place }) => place)
  )
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
