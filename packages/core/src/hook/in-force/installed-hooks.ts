// The hooks that are installed here, and whether their agents really call them.
import { CordonError, messageOf } from '../../errors/index.js'

import type { Environment } from '../../line/command-line.js'
import { SCOPES } from '../agent.js'
import type { Agent, Scope } from '../agent.js'
import { installedWords } from '../installed-options.js'
import { readSettings, settingsPath } from '../settings-place.js'
import { optionsError } from '../try-options.js'
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
  readonly state: HookState
  /** What keeps it from `in force`. */
  readonly obstacles: readonly Obstacle[]
}

export const BLOCKS = 'in force, but it blocks every call'

export type HookState = 'in force' | 'NOT in force' | typeof BLOCKS | 'cannot be checked'

/** For an agent that is started in the working directory. */
export const installedHooks = async (
  agents: readonly Agent[],
  environment: Environment,
): Promise<readonly InstalledHook[]> => {
  const found = agents.flatMap((agent) => SCOPES.map((scope) => hookIn(agent, scope, environment)))
  return (await Promise.all(found)).flat()
}

const hookIn = async (agent: Agent, scope: Scope, environment: Environment): Promise<readonly InstalledHook[]> => {
  const file = fileOf(agent, scope, environment)
  if (file === undefined) return []
  const at = { agent, scope, file }
  let command: string | undefined
  try {
    command = agent.settings.find(readSettings(file), file)
  } catch (error) {
    return [{ ...at, command: '', state: 'cannot be checked', obstacles: [obstacleOf(error)] }]
  }
  if (command === undefined) return []
  const hook = { ...at, command, folder: process.cwd(), environment }
  try {
    const facts = Object.hasOwn(BY_AGENT, agent.name) ? BY_AGENT[agent.name] : undefined
    const obstacles = [...FACTS, facts].flatMap((fact) => fact?.(hook) ?? [])
    const error = await optionsError({ ...hook, words: installedWords(command, agent.name) })
    const state = obstacles.length > 0 ? 'NOT in force' : error === undefined ? 'in force' : BLOCKS
    return [{ ...at, command, state, obstacles: [...obstacles, ...(error === undefined ? [] : [obstacleOf(error)])] }]
  } catch (error) {
    return [{ ...at, command, state: 'cannot be checked', obstacles: [obstacleOf(error)] }]
  }
}

/** The same words as the error of a call. */
const obstacleOf = (error: unknown): Obstacle => ({
  problem: error instanceof CordonError ? `${error.code}: ${error.message}` : messageOf(error),
  fix: (error instanceof CordonError ? error.fix : undefined) ?? 'correct that, and check again: cordon hook check',
})

/** Files that have the hook of this agent. A file that cannot be read is none of them. */
export const filesWithHook = (
  agent: Agent,
  environment: Environment,
): readonly { readonly scope: Scope; readonly file: string }[] =>
  SCOPES.flatMap((scope) => {
    try {
      const file = fileOf(agent, scope, environment)
      return file === undefined || agent.settings.find(readSettings(file), file) === undefined ? [] : [{ scope, file }]
    } catch {
      return []
    }
  })

/** The user of a container may have no home, and then has no settings of its own, unless a variable says where. */
const fileOf = (agent: Agent, scope: Scope, environment: Environment): string | undefined => {
  try {
    return settingsPath(agent, scope, environment)
  } catch (error) {
    if (scope === 'user' && error instanceof CordonError) return undefined
    throw error
  }
}
