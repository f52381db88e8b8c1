// `cordon hook install` and `uninstall`: the settings of agents. Every change keeps a backup of the file.
import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

import { fail, reasonOf } from '../../errors/index.js'
import { replaceFile } from '../../platform/index.js'
import { installedCommand, sharedCommand } from '../../runtime/agent-hook/index.js'
import { MACHINE_FOLDER } from '../../runtime/own-files/index.js'

import { usage } from '../arguments.js'
import type { Arguments } from '../arguments.js'
import type { CommandLine, Environment } from '../command-line.js'
import { copyProgram, uncheckedLines } from '../program/copy-program.js'
import { SHARED_LAUNCHER, launcherOf } from '../program/program-launcher.js'
import { dataFolderOf, homeOf } from '../settings/own-folders.js'
import { copyNew, refuseLinks } from '../settings/refuse-links.js'
import { STDOUT, writeText } from '../text/console-text.js'
import { SCOPES } from './agent.js'
import type { Agent, HookChange, Scope } from './agent.js'
import { obstacleLines } from './check-hooks.js'
import { PASSED_ON } from './rewrite.js'
import { readSettings, settingsPath } from './settings-place.js'

const COMMAND = 'cordon hook'

export const installHook = async (agent: Agent, line: CommandLine): Promise<number> => {
  const scope = scopeOf(line.given)
  const isShared = scope === 'project' && agent.settings.isProjectShared === true
  const dataFolder = scope === 'managed' ? MACHINE_FOLDER : dataFolderOf(line.environment, homeOf(line.environment))
  const words = ['hook', agent.name, ...optionsOf(line.given, isShared ? 'user' : scope)]
  const command = isShared
    ? sharedCommand(SHARED_LAUNCHER, words)
    : installedCommand([launcherOf(dataFolder), ...words])
  const unchecked = line.given.switches.has('print') ? [] : await copyProgram(dataFolder)
  const path = change(agent, line, { kind: 'install', command, scope })
  if (path === undefined) return 0
  const obstacles = obstacleLines(agent, path, line.environment)
  const lines = [
    obstacles.length === 0
      ? `The hook of ${agent.title} is in ${path}. It holds from the next start of ${agent.title}.`
      : `The hook of ${agent.title} is in ${path}. It is not in force yet. After the fix: cordon hook check ${agent.name}`,
    ...obstacles,
    `It starts a copy of Cordon: ${launcherOf(dataFolder)}. After an update of Cordon, install the hook again.`,
    ...(isShared
      ? ['A team may commit this file. Each member needs a copy of Cordon: cordon hook install, once on each machine.']
      : []),
    ...uncheckedLines(unchecked),
    '',
    `What ${agent.title} does not let Cordon hold:`,
    ...agent.notHeld.map((each) => `- ${each}`),
    '',
    'Every decision is in the audit log: cordon log show. docs/hooks.md explains grants and rules.',
  ]
  writeText(STDOUT, `${lines.join('\n')}\n`)
  return 0
}

export const uninstallHook = (agent: Agent, line: CommandLine): number => {
  const path = change(agent, line, { kind: 'remove', scope: scopeOf(line.given) })
  if (path !== undefined) writeText(STDOUT, `The hook of ${agent.title} is no longer in ${path}.\n`)
  return 0
}

const scopeOf = ({ switches }: Arguments): Scope => {
  const given = SCOPES.filter((scope) => switches.has(scope))
  if (given.length > 1)
    throw usage(`${given.map((scope) => `--${scope}`).join(' and ')} cannot stand together`, COMMAND, 'choose one')
  return given[0] ?? 'project'
}

const pathOf = (agent: Agent, scope: Scope, environment: Environment): string => {
  const path = settingsPath(agent, scope, environment)
  if (path === undefined)
    throw usage(`Cordon knows no settings of ${agent.title} for all users of this machine`, COMMAND, 'use --user')
  return path
}

/** The options of the hook, as they stand in the settings. Paths are absolute, because the hook runs elsewhere. */
const optionsOf = ({ values, switches }: Arguments, scope: Scope): readonly string[] => {
  const isFile = (name: string, value: string): boolean =>
    name === 'rules' || name === 'upstream-ca' || (name === 'policy' && /\/|\.(?:ya?ml|json)$/.test(value))
  const workspace = values.get('workspace')?.[0] ?? (scope === 'project' ? '.' : undefined)
  return [
    ...(workspace === undefined ? [] : ['--workspace', realpathSync(resolve(workspace))]),
    ...['mode', 'rules', ...PASSED_ON.map(({ name }) => name)].flatMap((name) =>
      (values.get(name) ?? []).flatMap((value) => [`--${name}`, isFile(name, value) ? resolve(value) : value]),
    ),
    ...(switches.has('no-cell') ? ['--no-cell'] : []),
  ]
}

/** Returns the file, or undefined if the change was only shown. */
const change = (agent: Agent, { given, environment }: CommandLine, wanted: HookChange): string | undefined => {
  const { scope } = wanted
  const path = pathOf(agent, scope, environment)
  const before = readSettings(path)
  const after = agent.settings.edit(before, path, wanted)
  if (given.switches.has('print')) {
    writeText(STDOUT, after)
    return undefined
  }
  if (after !== before)
    write(path, after, scope, agent.settings.find(before, path) === undefined ? 'backup' : 'no-backup')
  return path
}

/**
 * `backup`: of the file without the hook. A file of the user that is a link, perhaps into a folder of dot files, stays
 * one.
 */
const write = (given: string, text: string, scope: Scope, keep: 'backup' | 'no-backup'): void => {
  try {
    mkdirSync(dirname(given), { recursive: true })
    if (scope === 'project') refuseLinks(given, process.cwd())
    const exists = existsSync(given)
    const path = exists ? realpathSync(given) : given
    if (exists && keep === 'backup') {
      rmSync(`${path}.before-cordon`, { force: true })
      copyNew(path, `${path}.before-cordon`)
    }
    // The hook was alone in it.
    if (['', '{}'].includes(text.replaceAll(/\s/g, ''))) {
      rmSync(path, { force: true })
      return
    }
    replaceFile(path, text, 0o600)
    // Every user reads it.
    if (scope === 'managed' && !exists) chmodSync(path, 0o644)
  } catch (cause) {
    throw fail('file-unwritable', { path: given, problem: reasonOf(cause) }, cause)
  }
}
