// Which project a command is about.
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

import { fail, messageOf } from '../../errors/index.js'
import { parseAbsolutePath, parseDuration } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { usage } from '../arguments.js'
import type { Arguments } from '../arguments.js'
import type { CommandLine, Environment } from '../command-line.js'
import { homeOf } from '../settings/own-folders.js'
import { namesStore } from '../store/store-help.js'
import { projectKeyIn } from '../settings/manifest-key.js'
import type { ProjectKey } from '../settings/manifest-key.js'

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
  readonly versions: (() => Promise<ReadonlyMap<string, number>>) | undefined
}

const COMMAND = 'cordon manifest'
const TIMEOUT = '1m'

/** The request of `PROJECT_OPTIONS`. */
export const projectRequestOf = ({ given: { values }, environment }: CommandLine): ProjectRequest => {
  const folder = folderAt(values.get('project')?.[0] ?? '.')
  return {
    folder,
    key: projectKeyIn(folder),
    home: homeOf(environment),
    config: values.get('config')?.[0],
    entries: values.get('entry') ?? [],
    timeout: durationOf(values.get('timeout')?.[0] ?? TIMEOUT),
    versions: namesStore(values) ? () => versionsIn({ values }, environment) : undefined,
  }
}

const versionsIn = async (
  words: Pick<Arguments, 'values'>,
  environment: Environment,
): Promise<ReadonlyMap<string, number>> => {
  // Loads the registry, which most projects do not have.
  const { openStore, teamOf } = await import('../store/store-options.js')
  const store = await openStore(words, environment, COMMAND)
  try {
    const tools = await store.ask('listTools', { team: await teamOf(store, words, environment, COMMAND) })
    return new Map(tools.map(({ key, version }) => [key, version]))
  } finally {
    await store.close()
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
