import { flag, value, values } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

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
        value('database', 'URL', 'the database of the registry (default: $CORDON_DATABASE)'),
        values('tools', 'FILE|DIR', 'tools of this host: .yaml, .json or modules'),
        value('name', 'NAME', 'name of this runner (default: the host name)'),
        values('label', 'LABEL', 'a label of this host, for tools that need it'),
        value('concurrency', 'N', 'calls at the same time (default: number of cores)'),
        value('workspace', 'DIR', 'working directory of tools (default: this directory)'),
        value('manifest', 'FILE', 'refuse tools that are not within this manifest (see: cordon manifest)'),
        values('secret', 'ID=SOURCE', 'source of a credential'),
        value('key', 'FILE', 'key for credentials of the registry, ID=store:TEAM/NAME (default: $CORDON_KEY_FILE)'),
        values('resolve', 'HOST=ADDRESS', 'use this address for a granted host'),
        value('upstream-ca', 'FILE', 'trust these certificates for granted hosts'),
        value('health', 'DIR', 'keep the files alive and ready there, for probes'),
        flag('json', 'print events as lines of JSON'),
      ],
    },
    {
      title: 'other actions',
      options: [
        flag('prepare', 'create or update the schema and the queue in the database, then exit'),
        value('registration', 'TOOL', 'print one tool as input for `cordon team tools register`, then exit'),
        flag('registrations', 'print all tools: … --registrations | cordon team tools register -'),
      ],
    },
  ],
  notes: [
    'On SIGTERM or SIGINT it claims no more calls and exits after the running ones. The second signal cancels them,',
    'the third exits at once. Exit status: 0 after such a signal; 125 it could not start.',
  ],
}
