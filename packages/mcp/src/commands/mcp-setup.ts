// `cordon mcp install | uninstall | list | diff | trust | update`.
import { unknownAction } from 'cordon/commands'
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
      return clientCommand(action, line)
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
