// What the tools of a project may do now, from its configuration and its entries.
import { resolve } from 'node:path'

import { fail } from '../../errors/index.js'
import type { Manifest } from '../../manifest/index.js'
import { parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import type { CommandLine } from '../command-line.js'
import { homeOf } from '../settings/own-folders.js'

export interface ProjectRequest {
  readonly folder: AbsolutePath
  readonly home: AbsolutePath
  /** `--config`. Undefined: the one in the folder, if there is one. */
  readonly config: string | undefined
  /** `--entry`, instead of those of the configuration. */
  readonly entries: readonly string[]
}

/** The request of `PROJECT_OPTIONS`. */
export const projectRequestOf = ({ given: { values }, environment }: CommandLine): ProjectRequest => ({
  folder: parseAbsolutePath(resolve(values.get('project')?.[0] ?? '.'), '--project'),
  home: homeOf(environment),
  config: values.get('config')?.[0],
  entries: values.get('entry') ?? [],
})

/** Loads code of the project in a cell. Throws `project-undescribed` with the reason. */
export const describeProject = (request: ProjectRequest): Promise<Manifest> =>
  Promise.reject(fail('project-undescribed', { project: request.folder, problem: 'not built yet', fix: '' }))
