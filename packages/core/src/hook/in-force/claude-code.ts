// What turns hooks of Claude Code off, as seen in 2.1.327: the settings of the machine, then `disableAllHooks` of the
// strongest of the other files. And which variables its settings of a project may not set.
import { join } from 'node:path'

import { namesInFolder } from '../../platform/index.js'
import { isMapping } from '../../shapes/index.js'

import type { Environment } from '../../line/arguments.js'
import type { HookAt, Obstacle, Obstacles } from '../agent.js'
import { agentPath } from '../settings-place.js'
import { decidingFile, jsonSettings, settingAt, variableObstacles } from './other-settings.js'
import type { OtherSettings } from './other-settings.js'

const MACHINE = '/etc/claude-code'
const MANAGED = 'cordon hook install claude-code --managed, as root'
/** It turns off hooks of the machine too. */
const BARE = 'CLAUDE_CODE_SIMPLE'
const SAFE_MODE = 'CLAUDE_CODE_SAFE_MODE'
/** In settings of a project: what starts commands, where settings are, and what turns hooks off. */
const STEERING = [
  'CLAUDE_CODE_SHELL',
  'CLAUDE_CODE_SHELL_PREFIX',
  'CLAUDE_ENV_FILE',
  'CLAUDE_CONFIG_DIR',
  BARE,
  SAFE_MODE,
]

export const claudeCodeObstacles = (hook: HookAt): Obstacles => {
  const { agent, scope, folder, environment } = hook
  const inUserFolder = (name: string) => jsonSettings(agentPath(agent, `~/.claude/${name}`, environment))
  const policies = [...machineFiles().map(jsonSettings), inUserFolder('remote-settings.json')]
  // The strongest first.
  const shared = jsonSettings(join(folder, '.claude/settings.json'))
  const user = inUserFolder('settings.json')
  const others = [jsonSettings(join(folder, '.claude/settings.local.json')), shared, user]
  const isOn = (file: OtherSettings, key: string) => settingAt(file, key) === true
  const off = policies.filter((file) => isOn(file, 'disableAllHooks'))
  const unreadable = [...policies, ...others].flatMap(({ obstacles }) => obstacles)
  const ofMachine = off.map(({ file }) => ({
    problem: `${file} turns all hooks off (disableAllHooks)`,
    fix: 'ask the administrator of this machine',
  }))
  const steered = others.filter(({ file }) => file !== user.file).flatMap(variablesOf)
  const always = [...unreadable, ...ofMachine, ...steered, turnedOffBy(BARE, environment)]
  if (scope === 'managed') return always
  const managedOnly = policies
    .filter((file) => isOn(file, 'allowManagedHooksOnly') || locksHooks(file))
    .map(({ file }) => ({ problem: `${file} lets only hooks of the machine run`, fix: MANAGED }))
  const deciding = decidingFile(others, 'disableAllHooks')
  return [
    ...always,
    ...managedOnly,
    deciding?.value === true && {
      problem: `${deciding.file} turns all hooks off (disableAllHooks)`,
      fix:
        deciding.file === shared.file
          ? 'install the hook in this project, which outweighs that file: cordon hook install claude-code'
          : `remove "disableAllHooks" from ${deciding.file}`,
    },
    turnedOffBy(SAFE_MODE, environment),
  ]
}

const turnedOffBy = (variable: string, environment: Environment): Obstacle | false =>
  /^(?:1|true|yes|on)$/i.test(environment[variable] ?? '') && {
    problem: `${variable} turns hooks off`,
    fix: `unset ${variable}`,
  }

const variablesOf = (file: OtherSettings): readonly Obstacle[] => {
  const variables = settingAt(file, 'env')
  return isMapping(variables) ? variableObstacles(file.file, Object.keys(variables), STEERING) : []
}

const locksHooks = (file: OtherSettings): boolean => {
  const locked = settingAt(file, 'strictPluginOnlyCustomization')
  return locked === true || (Array.isArray(locked) && locked.includes('hooks'))
}

const machineFiles = (): readonly string[] => {
  const parts = join(MACHINE, 'managed-settings.d')
  const names = namesInFolder(parts).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
  return [join(MACHINE, 'managed-settings.json'), ...names.map((name) => join(parts, name))]
}
