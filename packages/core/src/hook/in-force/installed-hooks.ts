// The hooks that are installed here, and whether their agents really call them.
import { CordonError, messageOf } from '../../errors/index.js'

import type { Environment } from '../../line/arguments.js'
import { SCOPES, scopeOption } from '../agent.js'
import type { Agent, HookAt, Obstacle, Obstacles, Scope } from '../agent.js'
import { commandToInstall } from '../command-to-install.js'
import { installedWords } from '../installed-options.js'
import { copyProblem, grantOverCopy } from '../program/program-facts.js'
import { readSettings, settingsPath } from '../settings-place.js'
import { optionsError } from '../try-options.js'
import { versionObstacles } from './agent-version.js'
import { claudeCodeObstacles } from './claude-code.js'
import { codexObstacles } from './codex.js'
import { geminiObstacles } from './gemini.js'

type Facts = (hook: HookAt) => Obstacles

const isSet = (value: string | undefined): boolean => /^(?:1|true)$/i.test(value ?? '')

/** As seen in 1.18.18. No settings of a project keep opencode from loading plugins. */
const opencodeObstacles: Facts = ({ scope, environment }) => [
  isSet(environment['OPENCODE_PURE']) && {
    problem: 'OPENCODE_PURE keeps opencode from loading plugins',
    fix: 'unset OPENCODE_PURE',
  },
  scope === 'project' &&
    isSet(environment['OPENCODE_DISABLE_PROJECT_CONFIG']) && {
      problem: 'OPENCODE_DISABLE_PROJECT_CONFIG keeps opencode from reading the folder of the project',
      fix: 'cordon hook install opencode --user, or unset that variable',
    },
]

/** Whether the copy of Cordon that a hook starts is there, whole and current. */
const copyObstacles: Facts = ({ agent, scope, command, folder, environment }) => {
  const problem = copyProblem(command, scope, environment)
  return [
    problem !== undefined && { problem, fix: `cordon hook install ${agent.name}${scopeOption(scope)}` },
    scope !== 'managed' && grantOverCopy(command, folder, environment),
  ]
}

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
  let text: string
  let command: string | undefined
  try {
    text = readSettings(file)
    command = agent.settings.find(text, file)
  } catch (error) {
    return [{ ...at, command: '', state: 'cannot be checked', obstacles: [obstacleOf(error)] }]
  }
  if (command === undefined) return []
  const hook = { ...at, command, folder: process.cwd(), environment }
  try {
    const facts = Object.hasOwn(BY_AGENT, agent.name) ? BY_AGENT[agent.name] : undefined
    const words = installedWords(command, agent.name)
    const known = [...FACTS, facts].flatMap((fact) => fact?.(hook) ?? []).filter(isObstacle)
    const written = commandToInstall(agent, scope, words, environment)
    const isOwn = command === written && agent.settings.isAsInstalled(text, file, written)
    const obstacles = known.length > 0 || isOwn ? known : [foreignEntry(hook)]
    const error = await optionsError({ ...hook, words })
    const state = obstacles.length > 0 ? 'NOT in force' : error === undefined ? 'in force' : BLOCKS
    return [{ ...at, command, state, obstacles: [...obstacles, ...(error === undefined ? [] : [obstacleOf(error)])] }]
  } catch (error) {
    return [{ ...at, command, state: 'cannot be checked', obstacles: [obstacleOf(error)] }]
  }
}

const isObstacle = (each: Obstacles[number]): each is Obstacle => each !== undefined && each !== false

/** Whatever else stands there, the agent may not start it, or may start something else. */
const foreignEntry = ({ agent, scope }: HookAt): Obstacle => ({
  problem: 'its entry is not as this version of Cordon writes it',
  fix: `cordon hook install ${agent.name}${scopeOption(scope)}`,
})

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
