// What turns hooks of Gemini CLI off or changes them, as seen in 0.61.0.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { statusAt } from '../../platform/index.js'
import { isWithinPath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import type { HookAt, Obstacle, Obstacles } from '../agent.js'
import { HOOK_NAME } from '../agents/gemini.js'
import { agentPath, readSettings } from '../settings-place.js'
import { jsonSettings, settingAt, upwards, variableObstacles } from './other-settings.js'

export const geminiObstacles = (hook: HookAt): Obstacles => {
  const { agent, folder, environment } = hook
  const at = (path: string) => jsonSettings(agentPath(agent, path, environment))
  const files = [
    at('/etc/gemini-cli/settings.json'),
    jsonSettings(join(folder, '.gemini/settings.json')),
    at('~/.gemini/settings.json'),
    jsonSettings(environment['GEMINI_CLI_SYSTEM_DEFAULTS_PATH'] ?? '/etc/gemini-cli/system-defaults.json'),
  ]
  const trusts = at('~/.gemini/trustedFolders.json')
  // Which file outweighs which was not seen, so each of them counts.
  const off = files.find((file) => settingAt(file, 'hooksConfig', 'enabled') === false)
  const naming = files.find((file) => {
    const disabled = settingAt(file, 'hooksConfig', 'disabled')
    return Array.isArray(disabled) && disabled.includes(HOOK_NAME)
  })
  return [
    ...[...files, trusts].flatMap(({ obstacles }) => obstacles),
    off && { problem: `${off.file} turns all hooks off (hooksConfig.enabled)`, fix: 'remove that setting' },
    naming && {
      problem: `${naming.file} turns this hook off (hooksConfig.disabled)`,
      fix: `remove ${JSON.stringify(HOOK_NAME)} from that list`,
    },
    ...environmentFile(hook),
    isDistrusted(trusts.values ?? {}, folder as AbsolutePath) && {
      problem: `${trusts.file} says that ${folder} is not trusted, and Gemini CLI then runs no hooks of settings`,
      fix: 'trust the folder with /permissions in Gemini CLI',
    },
  ]
}

/** The file of the folder or above it that Gemini CLI reads. Variables that are set already stay as they are. */
const environmentFile = ({ agent, folder, environment }: HookAt): readonly Obstacle[] => {
  const file = upwards(folder)
    .flatMap((each) => [join(each, '.gemini/.env'), join(each, '.env')])
    .find((path) => existsSync(path))
  const ofUser = ['~/.gemini/.env', '~/.env'].map((path) => agentPath(agent, path, environment))
  if (file === undefined || ofUser.includes(file) || statusAt(file)?.isDirectory() === true) return []
  const names = Array.from(readSettings(file).matchAll(/^\s*(?:export\s+)?(?<name>[\w.-]+)(?:\s*=|:\s)/gm), named)
  return variableObstacles(
    file,
    names.filter((name) => environment[name] === undefined),
  )
}

const named = ({ groups }: RegExpExecArray): string => groups?.['name'] ?? ''

/** The longest path that has the folder decides. */
const isDistrusted = (trusts: Readonly<Record<string, unknown>>, folder: AbsolutePath): boolean => {
  const [nearest] = Object.entries(trusts)
    .filter(([path, trust]) => {
      const top = trust === 'TRUST_PARENT' ? dirname(path) : path
      return isWithinPath(folder, top as AbsolutePath)
    })
    .toSorted(([a], [b]) => b.length - a.length)
  return nearest?.[1] === 'DO_NOT_TRUST'
}
