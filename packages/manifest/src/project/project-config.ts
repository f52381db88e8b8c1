// `cordon.config.ts` of a project. It is code of the project, so it is loaded in a cell too.
import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'

import { messageOf } from 'cordon/errors'
import { projectShape } from 'cordon/runtime'
import type { ProjectOptions } from 'cordon/runtime'
import { placeInFile } from 'cordon/shapes'

import { readGivenDocument, usage } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import type { ProjectRequest } from './project-request.js'
import { fileIn } from './file-in-project.js'
import { loadInCell } from './load-in-cell.js'

const NAMES = ['cordon.config.ts', 'cordon.config.js', 'cordon.config.mjs', 'cordon.config.json']
const FIX = 'write it like: export default defineProject({ entries: ["agents/support.ts"] })'

/** Without a configuration the command line has to name the entries. */
export const readConfig = async (request: ProjectRequest): Promise<ProjectOptions> => {
  const file = configOf(request)
  if (file === undefined) return {}
  const value =
    extname(file) === '.json'
      ? readGivenDocument(file, FIX).node.value
      : await loadInCell('loadConfig', request, [file])
  try {
    return projectShape.read(value, placeInFile(file))
  } catch (error) {
    throw fail('project-undescribed', { project: file, problem: messageOf(error), fix: FIX }, error)
  }
}

const configOf = ({ folder, config, entries }: ProjectRequest): string | undefined => {
  if (config !== undefined) return fileIn(folder, config)
  const found = NAMES.map((name) => join(folder, name)).filter((path) => existsSync(path))
  const [only, other] = found
  if (other !== undefined)
    throw usage(
      `there are two configurations: ${found.join(', ')}`,
      'cordon manifest',
      'remove one, or name it: --config',
    )
  if (only === undefined && entries.length === 0)
    throw usage(
      `${folder} has no cordon.config.js (or .ts, .mjs, .json), and no entry is named`,
      'cordon manifest',
      'name a module that creates agents or exports tools: --entry agents/support.ts',
    )
  return only === undefined ? undefined : fileIn(folder, only)
}
