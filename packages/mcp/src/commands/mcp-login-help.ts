import { flag, value, values } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

export const MCP_LOGIN_ACTIONS = ['login', 'logout'] as const

export const MCP_LOGIN_HELP: CommandHelp = {
  usage: [
    'cordon mcp login SERVER|URL [options]',
    '       cordon mcp login --list',
    '       cordon mcp logout SERVER|URL [options]',
  ].join('\n'),
  summary: 'log in to remote MCP servers',
  description: [
    'login finds the authorization server of an MCP server, and prints an address for your browser. After you have',
    'agreed there, Cordon keeps the tokens, renews them, and puts them into requests to this server alone. Neither',
    'clients nor tools get them. logout revokes the tokens, and removes them.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        flag('list', 'show the servers that you are logged in to'),
        value('config', 'FILE', 'look up SERVER in this file with "mcpServers" (default: the files of clients)'),
        values('scope', 'SCOPE', 'ask for this scope too', 'scopes'),
        flag('json', 'print JSON'),
      ],
    },
    {
      title: 'client',
      options: [
        value('client-id', 'ID|URL', 'use this client, or the document at this address (default: register one)'),
        value('client-secret', 'SOURCE', 'source of its secret: env:NAME, file:PATH, command:…, keyring:…, vault:…'),
        value('redirect', 'URL', 'its redirect address (default: http://127.0.0.1/callback, with any port)'),
      ],
    },
    {
      title: 'network',
      options: [
        values('resolve', 'HOST=ADDRESS', 'use this address for a host'),
        value('upstream-ca', 'FILE', 'trust these server certificates'),
      ],
    },
  ],
  notes: [
    'SERVER is a name from a file, URL its address. If your browser is on another machine, it cannot open the last',
    'address. Copy that address from the browser, and paste it at the terminal.',
    '',
    'The login of a server is the source login:URL of a credential (see --secret of: cordon run).',
  ],
}
