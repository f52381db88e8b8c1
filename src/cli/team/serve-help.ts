import type { CommandHelp } from '../help.js'

export const SERVE_HELP: CommandHelp = {
  usage: 'cordon serve [options]',
  summary: 'serve the registry of a team to other processes',
  description: [
    'Opens a store and serves the registry in it: to cordon approvals, tools, team and tokens, to runtimes',
    '(createCordon({ registry: { server } })) and to any HTTP client. GET /openapi.json describes the API. ' +
      'Its socket is',
    'only for the user who runs it, who owns the store. Everybody else needs a token, with the rights of its member.',
  ],
  groups: [
    {
      title: 'store',
      options: [
        {
          name: 'store',
          value: 'DIR',
          meantBy: ['folder', 'dir'],
          help: 'an embedded store, created if missing (default: $CORDON_STORE, ~/.local/state/cordon/store)',
        },
        {
          name: 'database',
          value: 'URL',
          meantBy: ['db', 'postgres'],
          help: 'PostgreSQL, with a login in cordon_gateway (default: $CORDON_DATABASE); see docs/serve.md',
        },
        {
          name: 'connections',
          value: 'NUMBER',
          meantBy: ['pool'],
          help: 'connections to PostgreSQL; a team uses at most three quarters, a member half (default: 10)',
        },
        {
          name: 'statement-timeout',
          value: 'TIME',
          meantBy: ['timeout'],
          help: 'statement timeout; for a lock, half of it (default: 15s)',
        },
        {
          name: 'init',
          value: 'TEAM',
          meantBy: ['create', 'team'],
          help: 'create this team if missing, with you as admin and operator, and one agent with a token',
        },
        { name: 'agent', value: 'NAME', help: 'the name of that agent (default: agent-1)' },
        {
          name: 'token-out',
          value: 'FILE',
          meantBy: ['out'],
          help: 'file for its token (default: ~/.local/state/cordon/NAME.token)',
        },
        {
          name: 'as',
          value: 'NAME',
          help: 'member for socket requests that name none (default: $CORDON_ACTOR, your login)',
        },
      ],
    },
    {
      title: 'listening',
      options: [
        {
          name: 'socket',
          value: 'PATH',
          help: 'a Unix socket for you alone (default: DIR/socket of an embedded store)',
        },
        {
          name: 'listen',
          value: 'ADDRESS',
          meantBy: ['port', 'bind', 'address'],
          help: 'an address for clients with a token: 127.0.0.1:7070, [::1]:7070; port 0 picks a free port',
        },
        {
          name: 'host',
          value: 'NAME',
          repeatable: true,
          help: 'a host name of this server; requests for other names are refused',
        },
        { name: 'tls-cert', value: 'FILE', help: 'certificate with its chain, PEM; required if other hosts connect' },
        { name: 'tls-key', value: 'FILE', help: 'key of the certificate, PEM' },
        { name: 'plain-http', help: 'accept other hosts without TLS, behind a proxy that encrypts' },
        { name: 'max-body', value: 'SIZE', help: 'largest request, such as 16M (default: 4M)' },
        { name: 'max-answer', value: 'SIZE', help: 'largest query result from PostgreSQL, such as 64M (default: 16M)' },
        { name: 'json', help: 'print the addresses as JSON' },
      ],
    },
  ],
  notes: [
    'On SIGTERM and SIGINT it finishes open requests and closes the store. Exit status: 0 then; 1 it could not start;',
    '2 wrong usage, or a file cannot be read.',
  ],
}
