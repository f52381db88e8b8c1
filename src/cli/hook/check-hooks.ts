// `cordon hook list` and `check`: which hooks are installed, and whether they are in force.
import type { CommandLine, Environment } from '../command-line.js'
import { STDOUT, oneLine, paintFor, writeText } from '../text/console-text.js'
import { renderTable } from '../text/table-text.js'
import type { Agent } from './agent.js'
import { installedHooks } from './in-force/installed-hooks.js'
import type { InstalledHook } from './in-force/installed-hooks.js'

const NOTHING = 'No hook is installed here.'

export const listHooks = (agents: readonly Agent[], { environment }: CommandLine): number => {
  const hooks = installedHooks(agents, environment)
  const rows = hooks.map((hook) => [
    ...[hook.agent.name, hook.scope, isInForce(hook) ? 'yes' : 'no', hook.file],
    optionsIn(hook.command, hook.agent.name),
  ])
  const heads = ['AGENT', 'SCOPE', 'IN FORCE', 'FILE', 'OPTIONS']
  const table = renderTable(heads, rows, paintFor(STDOUT, environment), NOTHING)
  const reasons = hooks.filter((hook) => !isInForce(hook)).flatMap(reasonLines)
  writeText(STDOUT, [table, ...(reasons.length === 0 ? [] : ['\n', ...reasons.map((line) => `${line}\n`)])].join(''))
  return 0
}

/** 0 only if each agent with a hook calls one, and there is one. */
export const checkHooks = (agents: readonly Agent[], { environment }: CommandLine): number => {
  const hooks = installedHooks(agents, environment)
  const paint = paintFor(STDOUT, environment)
  const lines =
    hooks.length === 0
      ? [NOTHING]
      : hooks.flatMap((hook) =>
          isInForce(hook) ? [oneLine(`${titleOf(hook)}: ${paint('green', 'in force')}`)] : reasonLines(hook),
        )
  writeText(STDOUT, `${lines.join('\n')}\n`)
  return isHeld(hooks) ? 0 : 1
}

const isHeld = (hooks: readonly InstalledHook[]): boolean =>
  hooks.length > 0 &&
  hooks.every(({ agent }) => hooks.some((hook) => hook.agent.name === agent.name && isInForce(hook)))

/** What a person must know about a hook that was just installed. */
export const obstacleLines = (agent: Agent, file: string, environment: Environment): readonly string[] =>
  installedHooks([agent], environment)
    .filter((hook) => hook.file === file && !isInForce(hook))
    .flatMap(reasonLines)

export const isInForce = ({ obstacles }: InstalledHook): boolean => obstacles.length === 0

const titleOf = ({ agent, scope, file }: InstalledHook): string => `${agent.title} (${scope}, ${file})`

export const reasonLines = (hook: InstalledHook): readonly string[] => [
  oneLine(`${titleOf(hook)}: NOT in force`),
  ...hook.obstacles.flatMap(({ problem, fix }) => [oneLine(`  ${problem}`), oneLine(`    fix: ${fix}`)]),
]

const optionsIn = (command: string, agent: string): string =>
  (command.split(`'hook' '${agent}'`)[1] ?? '').trim().replaceAll(/'([\w@%+=:,./-]+)'/g, '$1')
