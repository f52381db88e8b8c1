// `cordon hook install` and `uninstall`
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

import { fail } from '../errors/index.js'
import { shellWord, statusAt } from '../platform/index.js'

import { usage } from '../line/arguments.js'
import type { Arguments, Environment } from '../line/arguments.js'
import type { CommandLine } from '../line/caller.js'
import { STDOUT, writeText } from '../line/text/console-text.js'
import { filesWithHook } from './in-force/installed-hooks.js'
import { copiesFor, copyProgram, launcherOf } from './program/copy-program.js'
import { scopeOption } from './agent.js'
import type { Agent, Scope } from './agent.js'
import { changeSettings, placeOf, scopeOf } from './change-settings.js'
import { obstacleLines } from './check-hooks.js'
import { commandToInstall, isSharedFile } from './command-to-install.js'
import { droppedOptions, installedWords, optionsText } from './installed-options.js'
import { PASSED_ON } from './rewrite.js'
import { isOfFolder, optionsError } from './try-options.js'

export const installHook = async (agent: Agent, line: CommandLine): Promise<number> => {
  const { given, environment } = line
  const scope = scopeOf(given)
  const isShared = isSharedFile(agent, scope)
  const options = optionsOf(given, isShared ? 'user' : scope)
  const path = placeOf(agent, scope, ['install', agent.name, ...scopeWords(scope), ...options], line)
  await refuseOptions(agent, options, scope, line)
  const dataFolder = copiesFor(scope, environment)
  const command = commandToInstall(agent, scope, options, environment)
  const unchecked = given.switches.has('print') ? [] : await copyProgram(dataFolder)
  const changed = changeSettings(agent, path, given, { kind: 'install', command, scope })
  if (changed === undefined) return 0
  const { replaced } = changed
  const dropped = replaced === undefined ? [] : droppedOptions(installedWords(replaced, agent.name), options)
  const obstacles = await obstacleLines(agent, path, environment)
  const lines = [
    obstacles.length === 0
      ? `The hook of ${agent.title} is in ${path}. It holds from the next start of ${agent.title}.`
      : `The hook of ${agent.title} is in ${path}. It does not work here yet:`,
    ...obstacles,
    ...(obstacles.length === 0 ? [] : [`After that: cordon hook check ${agent.name}`]),
    ...(dropped.length === 0
      ? []
      : [
          `These options (${optionsText(options) || 'none'}) replace: ${dropped.join(' ')}. To keep them, give them too.`,
        ]),
    `It starts a copy of Cordon: ${launcherOf(dataFolder)}. After an update of Cordon, install the hook again.`,
    ...(isShared
      ? ['A team may commit this file. Each member needs a copy of Cordon: cordon hook install, once on each machine.']
      : []),
    ...(unchecked.length === 0
      ? []
      : [`Copied without a check, because the list of hashes has other versions: ${unchecked.join(', ')}`]),
    '',
    `What ${agent.title} does not let Cordon hold:`,
    ...agent.notHeld.map((each) => `- ${each}`),
    '',
    'Every decision is in the audit log: cordon log show. docs/hooks.md explains grants and rules.',
  ]
  writeText(STDOUT, `${lines.join('\n')}\n`)
  return 0
}

const scopeWords = (scope: Scope): readonly string[] => (scope === 'project' ? [] : [`--${scope}`])

/** A hook for all projects may be installed in a folder in which it would not work. Then the check says so. */
const refuseOptions = async (
  agent: Agent,
  words: readonly string[],
  scope: Scope,
  { environment }: CommandLine,
): Promise<void> => {
  const folder = process.cwd()
  const error = await optionsError({ agent, words, folder, environment })
  if (error === undefined) return
  if (scope === 'project' || words.includes('--workspace') || !isOfFolder(error, folder)) throw error
}

/** The options of the hook, as they stand in the settings. Paths are absolute, because the hook runs elsewhere. */
const optionsOf = ({ values, switches }: Arguments, scope: Scope): readonly string[] => {
  const isFile = (name: string, value: string): boolean =>
    name === 'rules' || name === 'upstream-ca' || (name === 'policy' && /\/|\.(?:ya?ml|json)$/.test(value))
  const workspace = values.get('workspace')?.[0] ?? (scope === 'project' ? '.' : undefined)
  return [
    ...(workspace === undefined ? [] : ['--workspace', workspaceAt(workspace)]),
    ...['mode', 'rules', ...PASSED_ON.map(({ name }) => name)].flatMap((name) =>
      (values.get(name) ?? []).flatMap((value) => [`--${name}`, isFile(name, value) ? resolve(value) : value]),
    ),
    ...(switches.has('no-cell') ? ['--no-cell'] : []),
  ]
}

const workspaceAt = (given: string): string => {
  const path = resolve(given)
  if (statusAt(path)?.isDirectory() !== true)
    throw usage(`--workspace ${given} is not a folder`, 'cordon hook', 'name the folder of the project')
  return realpathSync(path)
}

export const uninstallHook = (agent: Agent, line: CommandLine): number => {
  const { given, environment } = line
  const scope = scopeOf(given)
  const path = placeOf(agent, scope, ['uninstall', agent.name, ...scopeWords(scope)], line)
  const changed = changeSettings(agent, path, given, { kind: 'remove', scope })
  if (changed === undefined) return 0
  const others = otherLines(agent, environment)
  if (!changed.isChanged)
    throw fail('hook-not-installed', {
      agent: agent.title,
      path,
      fix: others.length === 0 ? 'nothing needs to be done; cordon hook list shows all hooks' : others.join('; '),
    })
  const folder = copiesFor(scope, environment)
  const lines = [
    `The hook of ${agent.title} is no longer in ${path}.`,
    ...others.map(capital),
    `Other projects may start the copy of Cordon in ${folder}. ` +
      `When no hook and no MCP entry needs it: rm -r ${shellWord(folder)}`,
  ]
  writeText(STDOUT, `${lines.join('\n')}\n`)
  return 0
}

const otherLines = (agent: Agent, environment: Environment): readonly string[] =>
  filesWithHook(agent, environment).map(
    ({ scope, file }) => `a hook is in ${file}: cordon hook uninstall ${agent.name}${scopeOption(scope)}`,
  )

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
