import { flag, value, values } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

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
