// `cordon mcp install | uninstall | list | diff | trust | update`.
import { copyProgram, dataFolderOf, homeOf, launcherOf, unknownAction } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'

import { clientCommand } from './client-commands.js'
import { diffCommand, trustCommand } from './consent-commands.js'
import { MCP_SETUP_ACTIONS } from './help.js'

export const mcpSetup = async (line: CommandLine): Promise<number> => {
  const [action] = line.given.rest
  switch (action) {
    case 'install':
    case 'uninstall':
    case 'list':
      return clientCommand(action, line, await launcherFor(action, line))
    case 'diff':
      return diffCommand(line)
    case 'trust':
      return trustCommand(line)
    case 'update':
      return (await import('./update-command.js')).updateCommand(line)
    default:
      throw unknownAction(action, MCP_SETUP_ACTIONS, 'cordon mcp')
  }
}

/** Clients with windows have no search path that leads to Node or to Cordon. A copy is outside of every project. */
const launcherFor = async (action: string, { given, environment }: CommandLine): Promise<string> => {
  const dataFolder = dataFolderOf(environment, homeOf(environment))
  if (action === 'install' && !given.switches.has('dry-run')) await copyProgram(dataFolder)
  return launcherOf(dataFolder)
}
