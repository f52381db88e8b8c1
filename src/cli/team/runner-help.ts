import type { CommandHelp } from '../help.js'

export const RUNNER_HELP: CommandHelp = {
  usage: 'cordon runner --database URL --tools FILE|DIR … [options]',
  summary: 'run approved calls of a team on this host',
  description: [
    'Claims approved calls from the registry in PostgreSQL, runs each in a cell and stores the result. It serves only',
    'tools that are on this host exactly as registered, and that this host can enforce. Any number of hosts can run',
    'it; one runner runs each call. See docs/runners.md.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'database', value: 'URL', help: 'the database of the registry (default: $CORDON_DATABASE)' },
        { name: 'tools', value: 'FILE|DIR', repeatable: true, help: 'tools of this host: .yaml, .json or modules' },
        { name: 'name', value: 'NAME', help: 'name of this runner (default: the host name)' },
        { name: 'label', value: 'LABEL', repeatable: true, help: 'a label of this host, for tools that need it' },
        { name: 'concurrency', value: 'N', help: 'calls at the same time (default: number of cores)' },
        { name: 'workspace', value: 'DIR', help: 'working directory of tools (default: this directory)' },
        { name: 'secret', value: 'ID=SOURCE', repeatable: true, help: 'where the value of a credential comes from' },
        {
          name: 'key',
          value: 'FILE',
          help: 'key for credentials of the registry, ID=store:TEAM/NAME (default: $CORDON_KEY_FILE)',
        },
        { name: 'resolve', value: 'HOST=ADDRESS', repeatable: true, help: 'use this address for a granted host' },
        { name: 'upstream-ca', value: 'FILE', help: 'trust these certificates for granted hosts' },
        { name: 'json', help: 'print events as lines of JSON' },
      ],
    },
    {
      title: 'other actions',
      options: [
        { name: 'prepare', help: 'create or update the schema and the queue in the database, then exit' },
        { name: 'registration', value: 'TOOL', help: 'print one tool as input for `cordon tools register`, then exit' },
        { name: 'registrations', help: 'print all tools: … --registrations | cordon tools register -' },
      ],
    },
  ],
  notes: [
    'On SIGTERM or SIGINT it claims no more calls and exits after the running ones. The second signal cancels them,',
    'the third exits at once. Exit status: 0 then; 125 it could not start.',
  ],
}
