// `cordon hook list` and `check`: which hooks are installed, and whether they are in force.
import type { Environment } from '../line/arguments.js'
import type { CommandLine } from '../line/caller.js'
import { STDOUT, oneLine, paintFor, writeText } from '../line/text/console-text.js'
import { renderTable } from '../line/text/table-text.js'
import { BLOCKS, installedHooks } from './in-force/installed-hooks.js'
import type { InstalledHook } from './in-force/installed-hooks.js'
import type { Agent } from './agent.js'
import { installedWords, optionsText } from './installed-options.js'

const NOTHING = 'No hook is installed here.'

export const listHooks = async (agents: readonly Agent[], { environment }: CommandLine): Promise<number> => {
  const hooks = await installedHooks(agents, environment)
  const rows = hooks.map((hook) => [
    ...[hook.agent.name, hook.scope, isInForce(hook) ? 'yes' : 'no', hook.file],
    optionsText(installedWords(hook.command, hook.agent.name)),
  ])
  const heads = ['AGENT', 'SCOPE', 'IN FORCE', 'FILE', 'OPTIONS']
  const table = renderTable(heads, rows, paintFor(STDOUT, environment), NOTHING)
  const reasons = hooks.filter((hook) => !isInForce(hook)).flatMap(reasonLines)
  writeText(STDOUT, [table, ...(reasons.length === 0 ? [] : ['\n', ...reasons.map((line) => `${line}\n`)])].join(''))
  return 0
}

/** 0 only if there is a hook, each agent with a hook calls one, and none of them blocks every call. */
export const checkHooks = async (agents: readonly Agent[], { environment }: CommandLine): Promise<number> => {
  const hooks = await installedHooks(agents, environment)
  const paint = paintFor(STDOUT, environment)
  const lines =
    hooks.length === 0
      ? noneLines(agents)
      : hooks.flatMap((hook) =>
          isInForce(hook) ? [oneLine(`${titleOf(hook)}: ${paint('green', 'in force')}`)] : reasonLines(hook),
        )
  writeText(STDOUT, `${lines.join('\n')}\n`)
  return isHeld(hooks) ? 0 : 1
}

const noneLines = (agents: readonly Agent[]): readonly string[] => {
  const [agent, ...others] = agents
  const names = agents.map(({ name }) => name).join(', ')
  return agent === undefined || others.length > 0
    ? [NOTHING, `fix: cordon hook install AGENT (one of: ${names})`]
    : [`No hook of ${agent.title} is installed here.`, `fix: cordon hook install ${agent.name}`]
}

const isHeld = (hooks: readonly InstalledHook[]): boolean =>
  hooks.length > 0 &&
  hooks.every(({ state }) => state !== BLOCKS) &&
  hooks.every(({ agent }) => hooks.some((hook) => hook.agent.name === agent.name && isInForce(hook)))

/** What a person must know about a hook that was just installed. */
export const obstacleLines = async (agent: Agent, file: string, environment: Environment): Promise<readonly string[]> =>
  (await installedHooks([agent], environment))
    .filter((hook) => hook.file === file && !isInForce(hook))
    .flatMap(reasonLines)

export const isInForce = ({ state }: InstalledHook): boolean => state === 'in force'

const titleOf = ({ agent, scope, file }: InstalledHook): string => `${agent.title} (${scope}, ${file})`

export const reasonLines = (hook: InstalledHook): readonly string[] => [
  oneLine(`${titleOf(hook)}: ${hook.state}`),
  ...hook.obstacles.flatMap(({ problem, fix }) => [oneLine(`  ${problem}`), oneLine(`    fix: ${fix}`)]),
]
