// `cordon hook uninstall`
import { fail } from '../errors/index.js'

import type { CommandLine, Environment } from '../line/command-line.js'
import { MACHINE_FOLDER } from '../runtime/own-files/index.js'
import { dataFolderOf, homeOf } from '../settings/own-folders.js'
import { STDOUT, writeText } from '../line/text/console-text.js'
import { asWord } from '../line/text/shell-word.js'
import type { Agent } from './agent.js'
import { changeSettings, placeOf, scopeOf, scopeOption } from './change-settings.js'
import { filesWithHook } from './in-force/installed-hooks.js'

export const uninstallHook = (agent: Agent, line: CommandLine): number => {
  const { given, environment } = line
  const scope = scopeOf(given)
  const words = ['uninstall', agent.name, ...scopeOption(scope).trim().split(' ').filter(Boolean)]
  const path = placeOf(agent, scope, words, line)
  const changed = changeSettings(agent, path, given, { kind: 'remove', scope })
  if (changed === undefined) return 0
  const others = otherLines(agent, environment)
  if (!changed.isChanged)
    throw fail('hook-not-installed', {
      agent: agent.title,
      path,
      fix: others.length === 0 ? 'nothing needs to be done; cordon hook list shows all hooks' : others.join('; '),
    })
  const folder = scope === 'managed' ? MACHINE_FOLDER : dataFolderOf(environment, homeOf(environment))
  const lines = [
    `The hook of ${agent.title} is no longer in ${path}.`,
    ...others.map(capital),
    `Other projects may start the copy of Cordon in ${folder}. When no hook and no MCP entry needs it: rm -r ${asWord(folder)}`,
  ]
  writeText(STDOUT, `${lines.join('\n')}\n`)
  return 0
}

const otherLines = (agent: Agent, environment: Environment): readonly string[] =>
  filesWithHook(agent, environment).map(
    ({ scope, file }) => `a hook is in ${file}: cordon hook uninstall ${agent.name}${scopeOption(scope)}`,
  )

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
