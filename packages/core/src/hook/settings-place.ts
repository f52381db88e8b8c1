// Where the settings of agents are, and their text.
import { join, resolve } from 'node:path'

import { fail, reasonOf } from '../errors/index.js'
import { PLATFORM } from '../platform/index.js'

import type { Environment } from '../line/arguments.js'
import { homeOf } from '../settings/own-folders.js'
import { readSettingsFile } from '../settings/settings-file.js'
import type { Agent, Scope } from './agent.js'

/** Undefined if the agent has no settings of this scope here. */
export const settingsPath = (agent: Agent, scope: Scope, environment: Environment): string | undefined => {
  const { [scope]: file } = agent.settings.files
  // The places of other systems are not tried.
  if (file === undefined || (scope === 'managed' && PLATFORM.name !== 'linux')) return undefined
  return agentPath(agent, file, environment)
}

/** A path as the agent reads it: `~/.codex/config.toml` is elsewhere with CODEX_HOME. */
export const agentPath = ({ settings }: Agent, written: string, environment: Environment): string => {
  for (const { variable, from } of settings.moved ?? []) {
    const { [variable]: moved } = environment
    if (moved !== undefined && moved !== '' && (written === from || written.startsWith(`${from}/`)))
      return resolve(join(moved, written.slice(from.length)))
  }
  return written.startsWith('~/') ? join(homeOf(environment), written.slice(2)) : resolve(written)
}

/** Empty if there is no such file. */
export const readSettings = (path: string): string => {
  try {
    return readSettingsFile(path) ?? ''
  } catch (cause) {
    throw fail('file-unreadable', { path, problem: reasonOf(cause), fix: 'make it readable for this user' }, cause)
  }
}
