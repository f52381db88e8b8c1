import type { CommandHelp } from '../help.js'

export const SERVE_HELP: CommandHelp = {
  usage: 'cordon serve [options]',
  summary: 'a store for other processes: tools, calls and approvals of a team',
  description: [
    'Keeps a store open and answers others: cordon approvals, tools, team and tokens, runtimes (createCordon({ registry:',
    '{ server } })) and anything that speaks HTTP; GET /openapi.json says what can be asked. Its socket is for the user',
    'that it runs as, who has the store itself. Everybody else is known by a token, and may do what its member may.',
  ],
  groups: [
    {
      title: 'the store',
      options: [
        { name: 'store', value: 'DIR', meantBy: ['folder', 'dir'], help: 'an embedded store, made if it is not there (otherwise: $CORDON_STORE, ~/.local/state/cordon/store)' },
        { name: 'database', value: 'URL', meantBy: ['db', 'postgres'], help: 'PostgreSQL, with a login of cordon_gateway (otherwise: $CORDON_DATABASE); see docs/serve.md' },
        { name: 'connections', value: 'NUMBER', meantBy: ['pool'], help: 'to PostgreSQL at the same time (otherwise: 10); a team has three quarters of them at most, one member half' },
        { name: 'statement-timeout', value: 'TIME', meantBy: ['timeout'], help: 'what PostgreSQL gives one statement, such as 15s (otherwise: that); for a lock, half of it' },
        { name: 'init', value: 'TEAM', meantBy: ['create', 'team'], help: 'begins this team with you as its admin and operator, and one agent with a token, unless it is there already' },
        { name: 'agent', value: 'NAME', help: 'the name of that agent (default: agent-1)' },
        { name: 'token-out', value: 'FILE', meantBy: ['out'], help: 'where its token goes (default: ~/.local/state/cordon/NAME.token)' },
        { name: 'as', value: 'NAME', help: 'who speaks through the socket, unless they say (otherwise: $CORDON_ACTOR, your login)' },
      ],
    },
    {
      title: 'where it listens',
      options: [
        { name: 'socket', value: 'PATH', help: 'a Unix socket for you alone (otherwise: DIR/socket of an embedded store)' },
        { name: 'listen', value: 'ADDRESS', meantBy: ['port', 'bind', 'address'], help: 'an address for who has a token: 127.0.0.1:7070, [::1]:7070; port 0 takes a free one' },
        { name: 'host', value: 'NAME', repeatable: true, help: 'a name by which it is reached; requests for any other are refused' },
        { name: 'tls-cert', value: 'FILE', help: 'a certificate with its chain, in PEM; needed beyond this host' },
        { name: 'tls-key', value: 'FILE', help: 'its key, in PEM' },
        { name: 'plain-http', help: 'listens beyond this host without TLS: something in front of it encrypts' },
        { name: 'max-body', value: 'SIZE', help: 'the largest request, such as 16M (otherwise: 4M)' },
        { name: 'max-answer', value: 'SIZE', help: 'the most that is read of one answer of PostgreSQL, such as 64M (otherwise: 16M)' },
        { name: 'json', help: 'says where it listens as JSON' },
      ],
    },
  ],
  notes: ['SIGTERM and SIGINT let it answer what is being asked and close the store. Exit status: 0 then, 1 when it could not begin, 2 when the', 'command line cannot be understood or names a file that cannot be read.'],
}
