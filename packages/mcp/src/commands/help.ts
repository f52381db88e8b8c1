import { CELL, EGRESS, GRANTS, LIMITING, flag, value, values } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

const { memory, processes, cpu } = LIMITING

export const MCP_HELP: CommandHelp = {
  usage: 'cordon mcp [options] -- SERVER…\n       cordon mcp [options] --config FILE',
  summary: 'run MCP servers in sandboxes, and decide every call of their tools',
  description: [
    'Runs MCP servers, each in its own sandbox, and serves them to a client on stdin and stdout.',
    'Every call of a tool is decided by your rules and its policy, and recorded in the audit log.',
  ],
  groups: [
    {
      title: 'servers',
      options: [
        value('config', 'FILE', 'start the servers of this file: the usual JSON with "mcpServers"'),
        value('server', 'NAME', 'choose one server of the file, or name the given one (default: its program)'),
        value('origin', 'URL', 'refuse a remote server that is not at this scheme, host and port'),
        value('tools', 'FILE', 'policies of tools, as YAML: tool pattern to policy (see below)', 'tool policies'),
        value('publish', 'PORT[/PATH]', 'the server serves HTTP at this port inside its cell (default path: /mcp)'),
        value('listen', 'ADDRESS', 'serve clients over HTTP at this address of this host (default: stdin and stdout)'),
        value('token', 'FILE', 'with --listen: the file with the token of clients, or "none"', 'secret'),
        values('allow', 'FEATURE', 'let servers ask the client: sampling, elicitation or roots (default: none)'),
      ],
    },
    { title: 'grants', options: GRANTS },
    {
      title: 'limits',
      options: [
        ...[memory, processes, cpu].flatMap((option) => option ?? []),
        value('timeout', 'TIME', 'cancel a call of a tool after this long (default: none)', 'wall time t wall-time'),
      ],
    },
    { title: 'sandbox', options: CELL },
    {
      title: 'decision',
      options: [
        value('mode', 'MODE', 'as of `cordon run`, for calls of tools (default: on_request)'),
        value('ask', 'client', 'let the user of the client approve calls (default: a call that asks is refused)'),
        values('rules', 'FILE', 'another rule file'),
        value('manifest', 'FILE', 'refuse servers and tools that are not within this manifest (see: cordon manifest)'),
      ],
    },
    { title: 'network', options: EGRESS },
  ],
  notes: [
    'Grants, limits and sandbox options hold for each server, and so for all of its tools. A tool with a policy',
    'of its own runs in a further process of its server, whose cell also grants that policy. Tools with equal',
    'policies share one.',
    '',
    'The tools file maps patterns to policies. "*" stands for any text, and the first match counts:',
    '  read_*: { filesystem: { read: [.] } }',
    '  write_file: { filesystem: { write: [out/**] } }',
    '  "*": server',
    '"server" is the policy of the server alone. "proposed" is the policy that the server itself publishes for the tool,',
    'if it is within that of the server. With { proposed: { within: POLICY } } it must be within this one.',
    'A tool without a policy gets none: its calls are refused, unless a rule allows it or the mode is bypass.',
    '',
    'Settings of servers by their names, as YAML in .cordon/mcp.yaml of a trusted project, or in mcp.yaml of your',
    'settings folder. The tools file counts before them:',
    '  servers: { files: { policy: {}, allow: [roots], tools: { read_*: { filesystem: { read: [.] } } } } }',
    '',
    'A server that npx, npm exec, pnpm dlx, bunx, uvx or pipx run would start is installed once, in a cell that',
    'reaches only the registry. .cordon/mcp.lock pins it, and it then runs without them (see: cordon mcp update).',
    '',
    'With several servers, names of tools and prompts begin with the server: files__read_file. Rules and the',
    'tools file use these names. A server of the file gets the variables that its "env" sets.',
    '',
    'Every start and every call is in the audit log (see: cordon log). If a call cannot be recorded, it does',
    'not run. The gateway ends when its client closes stdin, and ends its servers.',
  ],
}

export const MCP_SETUP_ACTIONS = ['install', 'uninstall', 'list', 'diff', 'trust', 'update'] as const

export const MCP_SETUP_HELP: CommandHelp = {
  usage: [
    'cordon mcp install|uninstall [CLIENT…] [options]',
    '       cordon mcp list [CLIENT…] [options]',
    '       cordon mcp diff [SERVER]',
    '       cordon mcp trust SERVER [OFFER…] --seen MARK',
    '       cordon mcp update [PACKAGE…]',
  ].join('\n'),
  summary: 'let clients start their MCP servers through Cordon, and consent to what servers offer',
  description: [
    'install changes the files of clients, so that they start each server with "cordon mcp --server NAME -- …".',
    'The address and the headers of a remote server move into a file of Cordon, which tools cannot read.',
    'uninstall changes them back. list shows which servers use Cordon. The first version of a file stays beside',
    'it, as FILE.before-cordon.',
    '',
    'diff shows what servers offer beyond what was consented to: changed or new tools, prompts, resource',
    'templates and instructions. trust consents to it.',
    '',
    'update pins the newest version of packages that servers are started from (npx, uvx), and shows the old and',
    'the new version. Without it a server stays at the version in .cordon/mcp.lock.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        values('server', 'NAME', 'only this server'),
        flag('user', 'only the files of the user'),
        flag('project', 'only the files of the project in this folder'),
        value('seen', 'MARK', 'what diff showed; trust consents to nothing else'),
        flag('dry-run', 'show what would change'),
        flag('json', 'print JSON'),
      ],
    },
  ],
  notes: [
    'Clients: claude-desktop, claude-code, cursor, vscode, codex, gemini (default: all).',
    '',
    'What a server offers when it is first started is consented to. A change, a new offer, hidden characters or a',
    'name that looks like another keep an offer from the model until you trust it. diff and trust are about the',
    'servers that were started in this folder.',
  ],
}

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
