// Which project a command is about.
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

import { messageOf } from 'cordon/errors'
import { parseAbsolutePath, parseDuration } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'

import { homeOf, loadProductIfAny, projectKeyIn, usage } from 'cordon/commands'
import type { CommandLine, ProjectKey } from 'cordon/commands'

import { fail } from '../errors/errors.js'

export interface ProjectRequest {
  /** Without links. */
  readonly folder: AbsolutePath
  readonly home: AbsolutePath
  /** `--config`. Undefined: the one in the folder, if there is one. */
  readonly config: string | undefined
  /** `--entry`, instead of those of the configuration. */
  readonly entries: readonly string[]
  readonly key: ProjectKey
  /** For loading, in milliseconds. */
  readonly timeout: number
  /** The versions of registered tools by their names. Undefined: no registry is named. */
  readonly versions: () => Promise<ReadonlyMap<string, number> | undefined>
}

const COMMAND = 'cordon manifest'
const TIMEOUT = '1m'

/** The request of `PROJECT_OPTIONS`. */
export const projectRequestOf = (line: CommandLine): ProjectRequest => {
  const {
    given: { values },
    environment,
  } = line
  const folder = folderAt(values.get('project')?.[0] ?? '.')
  return {
    folder,
    key: projectKeyIn(folder),
    home: homeOf(environment),
    config: values.get('config')?.[0],
    entries: values.get('entry') ?? [],
    timeout: durationOf(values.get('timeout')?.[0] ?? TIMEOUT),
    // Loads the registry, which most projects do not have.
    versions: async () => (await loadProductIfAny('team'))?.toolVersions?.(line, COMMAND),
  }
}

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
