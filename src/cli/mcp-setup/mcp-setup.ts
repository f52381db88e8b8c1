// `cordon mcp install | uninstall | list | diff | trust | update`.
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { unknownAction } from '../arguments.js'
import type { CommandLine } from '../command-line.js'

import { clientCommand } from './client-commands.js'
import { diffCommand, trustCommand } from './consent-commands.js'
import { MCP_SETUP_ACTIONS } from './mcp-setup-help.js'

const PROGRAM = fileURLToPath(new URL('../../../bin/cordon.js', import.meta.url))

export const mcpSetup = async (line: CommandLine): Promise<number> => {
  const [action] = line.given.rest
  switch (action) {
    case 'install':
    case 'uninstall':
    case 'list':
      // Clients with windows have no search path that leads to Node or to Cordon.
      return clientCommand(action, line, [process.execPath, realpathSync(PROGRAM)])
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
