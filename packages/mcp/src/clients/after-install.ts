// What a user must do after `cordon mcp install`: give the tools policies, and log in to remote servers.
import { join } from 'node:path'

import { parseAbsolutePath } from 'cordon/policy'
import { configFolderOf, homeOf, visible, visibleWord } from 'cordon/commands'
import type { Environment } from 'cordon/commands'

import { policyForWords } from '../servers/tool-rights.js'
import { nameFor } from '../servers/server-choice.js'
import { SETTINGS_FILE, readServerSettings } from '../servers/server-settings.js'
import type { Outcome } from './change-clients.js'

/** `isDry`: nothing was changed. */
export const afterInstall = (
  outcomes: readonly Outcome[],
  environment: Environment,
  { isDry }: { readonly isDry: boolean },
): readonly string[] => {
  const installed = outcomes.filter(({ state }) => state === 'installed')
  const remote = installed.filter(({ url }) => url !== null)
  const shared = remote.filter(({ scope }) => scope === 'project')
  return [
    ...policiesAdvice(installed, environment),
    ...(remote.length === 0
      ? []
      : [
          'A server that needs a login: ' +
            remote.map(({ url }) => `cordon mcp login ${visibleWord(url ?? '')}`).join(', '),
        ]),
    ...shared.map(
      ({ file, server, client }) =>
        `Do not commit ${visible(file)}: "${visible(server)}" names a file of this machine, which has its address. ` +
        `To take it out: cordon mcp uninstall ${client} --project --server ${visibleWord(server)}`,
    ),
    ...(installed.length === 0 || isDry ? [] : ['Restart the clients.']),
  ]
}

const policiesAdvice = (installed: readonly Outcome[], environment: Environment): readonly string[] => {
  const home = homeOf(environment)
  const configFolder = configFolderOf(environment, home)
  const folder = parseAbsolutePath(process.cwd(), 'the working directory')
  const settings = readServerSettings({
    workspace: folder,
    folder,
    home,
    configFolder,
    ruleFiles: [],
  })
  const bare = installed.filter(({ server }) => settings.of(nameFor(server)).tools.length === 0)
  if (bare.length === 0) return []
  const lines = bare.map(({ server, url, command }) =>
    url === null
      ? `    ${nameFor(server)}: { policy: ${policyForWords(serverWordsIn(command ?? []), folder)}, ` +
        `tools: { "*": server } }   # all tools, with the rights of the server's cell`
      : `    ${nameFor(server)}: { tools: { "search_*": {} } }   # these tools, without a question`,
  )
  return [
    '',
    `These tools have no policies yet, so their calls are refused. Write policies into`,
    `${visible(join(configFolder, SETTINGS_FILE))}, for example:`,
    '  servers:',
    ...new Set(lines),
  ]
}

/** The words of the server itself, behind those of Cordon. */
const serverWordsIn = (command: readonly string[]): readonly string[] => command.slice(command.indexOf('--') + 1)
