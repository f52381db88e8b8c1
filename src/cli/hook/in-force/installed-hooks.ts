// The hooks that are installed here, and whether their agents really call them.
import { CordonError, messageOf } from '../../../errors/index.js'

import type { Environment } from '../../command-line.js'
import { SCOPES } from '../agent.js'
import type { Agent, Scope } from '../agent.js'
import { readSettings, settingsPath } from '../settings-place.js'
import { versionObstacles } from './agent-version.js'
import { claudeCodeObstacles } from './claude-code.js'
import { codexObstacles } from './codex.js'
import { copyObstacles } from './copy.js'
import { geminiObstacles } from './gemini.js'
import type { HookAt, Obstacle } from './obstacle.js'
import { opencodeObstacles } from './opencode.js'

type Facts = (hook: HookAt) => readonly Obstacle[]

const BY_AGENT: Readonly<Record<string, Facts>> = {
  'claude-code': claudeCodeObstacles,
  'codex': codexObstacles,
  'gemini': geminiObstacles,
  'opencode': opencodeObstacles,
}

/** About every agent. */
const FACTS: readonly Facts[] = [versionObstacles, copyObstacles]

export interface InstalledHook {
  readonly agent: Agent
  readonly scope: Scope
  readonly file: string
  /** Empty if the file cannot be read. */
  readonly command: string
  /** None: the hook is in force. */
  readonly obstacles: readonly Obstacle[]
}

/** For an agent that is started in the working directory. */
export const installedHooks = (agents: readonly Agent[], environment: Environment): readonly InstalledHook[] =>
  agents.flatMap((agent) => SCOPES.flatMap((scope) => hookIn(agent, scope, environment)))

const hookIn = (agent: Agent, scope: Scope, environment: Environment): readonly InstalledHook[] => {
  const file = fileOf(agent, scope, environment)
  if (file === undefined) return []
  try {
    const command = agent.settings.find(readSettings(file), file)
    if (command === undefined) return []
    const hook = { agent, scope, file, command, folder: process.cwd(), environment }
    const facts = Object.hasOwn(BY_AGENT, agent.name) ? BY_AGENT[agent.name] : undefined
    return [{ agent, scope, file, command, obstacles: [...FACTS, facts].flatMap((fact) => fact?.(hook) ?? []) }]
  } catch (error) {
    const problem = `nobody knows whether ${file} has a hook in force: ${messageOf(error)}`
    const fix = (error instanceof CordonError ? error.fix : undefined) ?? 'correct the file'
    return [{ agent, scope, file, command: '', obstacles: [{ problem, fix }] }]
  }
}

/** The user of a container may have no home, and then has no settings of its own, unless a variable says where. */
const fileOf = (agent: Agent, scope: Scope, environment: Environment): string | undefined => {
  try {
    return settingsPath(agent, scope, environment)
  } catch (error) {
    if (scope === 'user' && error instanceof CordonError) return undefined
    throw error
  }
}
