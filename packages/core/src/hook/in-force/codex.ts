// What keeps Codex from running a hook, as seen in 0.169.0: rules of the machine, the feature, the trust of the project
// and the trust of the hook itself.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'

import { isMapping } from '../../shapes/index.js'

import type { HookAt, Obstacle, Obstacles } from '../agent.js'
import { HOST_SECONDS } from '../installed-command.js'
import { agentPath } from '../settings-place.js'
import { decidingFile, jsonSettings, settingAt, tomlSettings, upwards, variableObstacles } from './other-settings.js'
import type { OtherSettings } from './other-settings.js'

const REVIEW = 'start codex here, and trust the hook with /hooks'
const MANAGED = 'cordon hook install codex --managed, as root'

export const codexObstacles = (hook: HookAt): Obstacles => {
  const { agent, scope, folder, environment } = hook
  const required = tomlSettings('/etc/codex/requirements.toml')
  const user = tomlSettings(agentPath(agent, '~/.codex/config.toml', environment))
  const isTrusted = isTrustedProject(user, folder)
  const ofProject = isTrusted ? [tomlSettings(join(folder, '.codex/config.toml'))] : []
  const files = [required, ...ofProject, user, tomlSettings('/etc/codex/config.toml')]
  const feature = decidingFile(files, 'features', 'hooks') ?? decidingFile(files, 'features', 'codex_hooks')
  return [
    ...files.flatMap(({ obstacles }) => obstacles),
    ...ofProject.filter(({ file }) => file !== user.file).flatMap(variablesOfCommands),
    feature?.value === false && {
      problem: `${feature.file} turns hooks off (features.hooks = false)`,
      fix: 'remove that line',
    },
    scope !== 'managed' &&
      settingAt(required, 'allow_managed_hooks_only') === true && {
        problem: `${required.file} lets only hooks of the machine run`,
        fix: MANAGED,
      },
    scope !== 'managed' && mistrust(hook, user),
    scope === 'project' &&
      !isTrusted && {
        problem: `Codex does not trust the project ${folder}, and reads no hooks of it`,
        fix: 'start codex here and trust the folder, or: cordon hook install codex --user',
      },
  ]
}

const variablesOfCommands = (file: OtherSettings): readonly Obstacle[] => {
  const variables = settingAt(file, 'shell_environment_policy', 'set')
  return isMapping(variables) ? variableObstacles(file.file, Object.keys(variables)) : []
}

/** Codex asks about the folder, or about the top of its repository. */
const isTrustedProject = (user: OtherSettings, folder: string): boolean =>
  upwards(folder).some((path) => settingAt(user, 'projects', path, 'trust_level') === 'trusted')

/** Codex keeps the hash of a hook that its user trusts, by the file and the place of the hook in it. */
const mistrust = ({ file, command }: HookAt, user: OtherSettings): Obstacle | undefined => {
  const groups = settingAt(jsonSettings(file), 'hooks', 'PreToolUse')
  const at = Array.isArray(groups) ? groups.findIndex((group) => isGroupOf(group, command)) : -1
  const states = [file, realpathSync(file)].map((path) =>
    settingAt(user, 'hooks', 'state', `${path}:pre_tool_use:${String(at)}:0`),
  )
  const state = states.find(isMapping)
  const hash = state?.['trusted_hash']
  if (state?.['enabled'] === false) return { problem: 'the hook is turned off in Codex', fix: REVIEW }
  if (hash === hashOf(command)) return undefined
  const problem =
    typeof hash === 'string'
      ? 'the hook has changed since its user trusted it, so Codex does not run it'
      : 'nobody has trusted the hook yet, so Codex does not run it'
  return { problem, fix: `${REVIEW}; or: ${MANAGED}` }
}

const isGroupOf = (group: unknown, command: string): boolean =>
  isMapping(group) &&
  Array.isArray(group['hooks']) &&
  group['hooks'].some((each: unknown) => isMapping(each) && each['command'] === command)

/** Of the entry that `cordon hook install codex` writes, in the order of its keys. */
const hashOf = (command: string): string => {
  const handler = { async: false, command, timeout: HOST_SECONDS, type: 'command' }
  const identity = JSON.stringify({ event_name: 'pre_tool_use', hooks: [handler], matcher: '*' })
  return `sha256:${createHash('sha256').update(identity).digest('hex')}`
}
