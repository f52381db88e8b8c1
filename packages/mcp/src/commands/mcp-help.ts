import { CELL, EGRESS, GRANTS, LIMITING, value, values } from 'cordon/commands'
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
    'Grants, limits and sandbox options hold for the cell of each server. The cell also gets the grants of',
    'all policies in the tools file, because the tools of a server share its cell. The gate then compares',
    'the arguments of a call with the policy of its own tool.',
    '',
    'The tools file maps patterns to policies. "*" stands for any text, and the first match counts:',
    '  read_*: { filesystem: { read: [.] } }',
    '  write_file: { filesystem: { write: [out/**] } }',
    '  "*": server',
    '"server" is the policy of the cell. "proposed" is the policy that the server itself publishes for the tool,',
    'if it is within that of the cell. With { proposed: { within: POLICY } } it must be within this one.',
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
