import { flag, value, values } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

export const SERVE_HELP: CommandHelp = {
  usage: 'cordon serve [options]',
  summary: 'serve the registry of a team to other processes',
  description: [
    'Opens a store and serves the registry in it: to cordon approvals, tools, team and tokens, to runtimes',
    '(teamRegistry({ server, … }) of @cordon/team) and to any HTTP client. GET /openapi.json describes the API. ' +
      'Its socket is',
    'only for the user who runs it, who owns the store. Everybody else needs a token, with the rights of its member.',
  ],
  groups: [
    {
      title: 'store',
      options: [
        value(
          'store',
          'DIR',
          'an embedded store, created if missing (default: $CORDON_STORE, ~/.local/state/cordon/store)',
          'folder dir',
        ),
        value(
          'database',
          'URL',
          'PostgreSQL, with a login in cordon_gateway (default: $CORDON_DATABASE); see docs/serve.md',
          'db postgres',
        ),
        value(
          'connections',
          'NUMBER',
          'connections to PostgreSQL; a team uses at most three quarters, a member half (default: 10)',
          'pool',
        ),
        value('statement-timeout', 'TIME', 'statement timeout; for a lock, half of it (default: 15s)', 'timeout'),
        value(
          'init',
          'TEAM',
          'create this team if missing, with you as admin and operator, and one agent with a token',
          'create team',
        ),
        value('agent', 'NAME', 'the name of that agent (default: agent-1)'),
        value('token-out', 'FILE', 'file for its token (default: ~/.local/state/cordon/NAME.token)', 'out'),
        value('as', 'NAME', 'member for socket requests that name none (default: $CORDON_ACTOR, your login)'),
      ],
    },
    {
      title: 'listening',
      options: [
        value('socket', 'PATH', 'a Unix socket for you alone (default: DIR/socket of an embedded store)'),
        value(
          'listen',
          'ADDRESS',
          'an address for clients with a token: 127.0.0.1:7070, [::1]:7070; port 0 picks a free port',
          'port bind address',
        ),
        values('host', 'NAME', 'a host name of this server; requests for other names are refused'),
        value('tls-cert', 'FILE', 'certificate with its chain, PEM; required if other hosts connect'),
        value('tls-key', 'FILE', 'key of the certificate, PEM'),
        flag('plain-http', 'accept other hosts without TLS, behind a proxy that encrypts'),
        value('max-body', 'SIZE', 'largest request, such as 16M (default: 4M)'),
        value('max-answer', 'SIZE', 'largest query result from PostgreSQL, such as 64M (default: 16M)'),
        flag('json', 'print the addresses as JSON'),
      ],
    },
  ],
  notes: [
    'On SIGTERM and SIGINT it finishes open requests and closes the store. Exit status: 0 after that;',
    '1 it could not start; 2 wrong usage, or a file cannot be read.',
  ],
}
