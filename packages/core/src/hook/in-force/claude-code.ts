// What turns hooks of Claude Code off, as seen in 2.1.327: the settings of the machine, then `disableAllHooks` of the
// strongest of the other files.
import { join } from 'node:path'

import { namesInFolder } from '../../platform/index.js'

import type { HookAt, Obstacles } from '../agent.js'
import { agentPath } from '../settings-place.js'
import { decidingFile, jsonSettings, settingAt } from './other-settings.js'
import type { OtherSettings } from './other-settings.js'

const MACHINE = '/etc/claude-code'
const MANAGED = 'cordon hook install claude-code --managed, as root'

export const claudeCodeObstacles = (hook: HookAt): Obstacles => {
  const { agent, scope, folder, environment } = hook
  const inUserFolder = (name: string) => jsonSettings(agentPath(agent, `~/.claude/${name}`, environment))
  const policies = [...machineFiles().map(jsonSettings), inUserFolder('remote-settings.json')]
  // The strongest first.
  const shared = jsonSettings(join(folder, '.claude/settings.json'))
  const others = [jsonSettings(join(folder, '.claude/settings.local.json')), shared, inUserFolder('settings.json')]
  const isOn = (file: OtherSettings, key: string) => settingAt(file, key) === true
  const off = policies.filter((file) => isOn(file, 'disableAllHooks'))
  const unreadable = [...policies, ...others].flatMap(({ obstacles }) => obstacles)
  const ofMachine = off.map(({ file }) => ({
    problem: `${file} turns all hooks off (disableAllHooks)`,
    fix: 'ask the administrator of this machine',
  }))
  if (scope === 'managed') return [...unreadable, ...ofMachine]
  const managedOnly = policies
    .filter((file) => isOn(file, 'allowManagedHooksOnly') || locksHooks(file))
    .map(({ file }) => ({ problem: `${file} lets only hooks of the machine run`, fix: MANAGED }))
  const deciding = decidingFile(others, 'disableAllHooks')
  return [
    ...unreadable,
    ...ofMachine,
    ...managedOnly,
    deciding?.value === true && {
      problem: `${deciding.file} turns all hooks off (disableAllHooks)`,
      fix:
        deciding.file === shared.file
          ? 'install the hook in this project, which outweighs that file: cordon hook install claude-code'
          : `remove "disableAllHooks" from ${deciding.file}`,
    },
    /^(?:1|true|yes|on)$/i.test(environment['CLAUDE_CODE_SAFE_MODE'] ?? '') && {
      problem: 'CLAUDE_CODE_SAFE_MODE turns hooks off',
      fix: 'unset CLAUDE_CODE_SAFE_MODE',
    },
  ]
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
