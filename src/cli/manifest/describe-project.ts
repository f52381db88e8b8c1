// What the tools of a project may do now, from its configuration and its entries.
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

import { fail, messageOf } from '../../errors/index.js'
import type { JsonValue } from '../../gate/index.js'
import { agentsShape, manifestOf, portableGlob } from '../../manifest/index.js'
import type { Manifest, ManifestAgent } from '../../manifest/index.js'
import { isWithinPath, parseAbsolutePath, parseDuration, parsePolicy } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { placeInFile } from '../../shapes/index.js'

import { usage } from '../arguments.js'
import type { CommandLine } from '../command-line.js'
import { homeOf } from '../settings/own-folders.js'

import { arrangeAgents } from './arrange-agents.js'
import { fileIn } from './file-in-project.js'
import { loadInCell } from './load-in-cell.js'
import { readConfig } from './project-config.js'

export interface ProjectRequest {
  /** Without links. */
  readonly folder: AbsolutePath
  readonly home: AbsolutePath
  /** `--config`. Undefined: the one in the folder, if there is one. */
  readonly config: string | undefined
  /** `--entry`, instead of those of the configuration. */
  readonly entries: readonly string[]
  /** For loading, in milliseconds. */
  readonly timeout: number
}

const COMMAND = 'cordon manifest'
const TIMEOUT = '1m'

/** The request of `PROJECT_OPTIONS`. */
export const projectRequestOf = ({ given: { values }, environment }: CommandLine): ProjectRequest => ({
  folder: folderAt(values.get('project')?.[0] ?? '.'),
  home: homeOf(environment),
  config: values.get('config')?.[0],
  entries: values.get('entry') ?? [],
  timeout: durationOf(values.get('timeout')?.[0] ?? TIMEOUT),
})

const durationOf = (text: string): number => {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) throw usage(`--timeout ${text} is not a duration`, COMMAND, 'write it like 30s or 2m')
  return milliseconds
}

const folderAt = (named: string): AbsolutePath => {
  try {
    return parseAbsolutePath(realpathSync(resolve(named)), '--project')
  } catch (error) {
    throw fail(
      'file-unreadable',
      { path: named, problem: messageOf(error), fix: 'name the folder of a project' },
      error,
    )
  }
}

/** Loads code of the project in a cell. Throws `project-undescribed` with the reason. */
export const describeProject = async (request: ProjectRequest): Promise<Manifest> => {
  const { folder, home } = request
  if (isWithinPath(home, folder))
    throw usage(`${folder} holds your home, and its code could read everything there`, COMMAND, 'name a project in it')
  const config = await readConfig(request)
  const entries = (request.entries.length > 0 ? request.entries : (config.entries ?? [])).map((entry) =>
    fileIn(folder, entry),
  )
  const described = entries.length === 0 ? [] : await loadInCell('loadEntries', request, entries)
  const agents = arrangeAgents(readAgents(described), config, request)
  const { public: open = [], trusted = [], own = [] } = config.tags ?? {}
  const places = { workspace: folder, project: folder, homes: [home] }
  const portable = (globs: readonly string[]) => sorted(globs.map((glob) => portableGlob(glob, places)))
  const tags = { public: portable(open), trusted: portable(trusted), own: sorted(own) }
  return manifestOf({ agents, tags })
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
