// What the tools of a project may do now, from its configuration and its entries.
import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'

import { messageOf } from 'cordon/errors'
import type { JsonValue } from 'cordon/gate'
import { agentsShape, manifestOf, portableGlob } from 'cordon/manifest'
import type { Manifest, ManifestAgent } from 'cordon/manifest'
import { isWithinPath, parsePolicy } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'
import { projectShape } from 'cordon/runtime'
import type { ProjectOptions } from 'cordon/runtime'
import { placeInFile, withoutUndefined } from 'cordon/shapes'

import { readGivenDocument, usage } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { arrangeAgents } from './arrange-agents.js'
import { fileIn } from './file-in-project.js'
import { loadInCell } from './load-in-cell.js'
import type { ProjectRequest } from './project-request.js'
import { withCompiler } from './with-compiler.js'

const COMMAND = 'cordon manifest'

/** Loads code of the project in a cell. Throws `project-undescribed` with the reason. */
export const describeProject = async (request: ProjectRequest): Promise<Manifest> => {
  const { folder, home } = request
  if (isWithinPath(home, folder))
    throw usage(`${folder} holds your home, and its code could read everything there`, COMMAND, 'name a project in it')
  const config = await readConfig(request)
  const entries = (request.entries.length > 0 ? request.entries : (config.entries ?? [])).map((entry) =>
    fileIn(folder, entry),
  )
  const described = entries.length === 0 ? [] : await describeEntries(request, entries)
  const agents = await arrangeAgents(described, config, request)
  const { public: open = [], trusted = [], own = [] } = config.tags ?? {}
  const places = { workspace: folder, project: folder, homes: [home] }
  const portable = (globs: readonly string[]) => sorted(globs.map((glob) => portableGlob(glob, places)))
  const tags = { public: portable(open), trusted: portable(trusted), own: sorted(own) }
  const versions = await request.versions()
  return manifestOf({ agents: versions === undefined ? agents : agents.map(withVersions(versions)), tags })
}

const withVersions =
  (versions: ReadonlyMap<string, number>) =>
  (agent: ManifestAgent): ManifestAgent => ({
    ...agent,
    tools: agent.tools.map((tool) => ({ ...tool, ...withoutUndefined({ registry_version: versions.get(tool.name) }) })),
  })

const describeEntries = async (request: ProjectRequest, entries: readonly AbsolutePath[]) => {
  const loaded = readAgents(await loadInCell('loadEntries', request, entries))
  const { withUnmade } = await withCompiler(() => import('./unmade-agents.js'))
  return withUnmade(loaded, request.folder, entries)
}

/** Whatever the code in the cell did, its answer is an agent, or an error. */
const readAgents = (value: JsonValue): readonly ManifestAgent[] => {
  try {
    const agents = agentsShape.read(value, placeInFile('what the entries told'))
    for (const { name, tools } of agents)
      for (const { name: tool, policy } of tools) parsePolicy(policy, `policy of ${tool} of ${name}`)
    return agents
  } catch (error) {
    throw fail('project-undescribed', { project: 'the project', problem: messageOf(error), fix: '' }, error)
  }
}

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()

const NAMES = ['cordon.config.ts', 'cordon.config.js', 'cordon.config.mjs', 'cordon.config.json']
const FIX = 'write it like: export default defineProject({ entries: ["agents/support.ts"] })'

/** `cordon.config.ts` is code of the project, so it is loaded in a cell too. Without it, entries have to be named. */
const readConfig = async (request: ProjectRequest): Promise<ProjectOptions> => {
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
    throw usage(`there are two configurations: ${found.join(', ')}`, COMMAND, 'remove one, or name it: --config')
  if (only === undefined && entries.length === 0)
    throw usage(
      `${folder} has no cordon.config.js (or .ts, .mjs, .json), and no entry is named`,
      COMMAND,
      'name a module that creates agents or exports tools: --entry agents/support.ts',
    )
  return only === undefined ? undefined : fileIn(folder, only)
}
