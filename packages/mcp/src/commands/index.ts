// What @cordon/mcp adds to the command line of Cordon.
import type { Product } from 'cordon/commands'

import { ERRORS } from '../errors/errors.js'
import { MCP_HELP, MCP_LOGIN_ACTIONS, MCP_LOGIN_HELP, MCP_SETUP_ACTIONS, MCP_SETUP_HELP } from './help.js'

export const PRODUCT: Product = {
  errors: ERRORS,
  commands: {
    mcp: {
      help: MCP_HELP,
      load: async () => (await import('./mcp.js')).mcp,
      actions: [
        {
          words: MCP_SETUP_ACTIONS,
          command: {
            help: MCP_SETUP_HELP,
            takesWords: true,
            load: async () => (await import('./mcp-setup.js')).mcpSetup,
          },
        },
        {
          words: MCP_LOGIN_ACTIONS,
          command: {
            help: MCP_LOGIN_HELP,
            takesWords: true,
            load: async () => (await import('./mcp-login.js')).mcpLogin,
          },
        },
      ],
    },
  },
  describeServers: async (file, project) =>
    (await import('../servers/describe-servers.js')).describeServers(file, project),
  logins: async (environment, order) => (await import('../login/logins.js')).loginsOf(environment, order),
}
