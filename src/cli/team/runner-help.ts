import type { CommandHelp } from '../help.js'

export const RUNNER_HELP: CommandHelp = {
  usage: 'cordon runner --database URL --tools FILE|DIR … [options]',
  summary: 'a worker host: runs approved calls of a team from its PostgreSQL',
  description: [
    'Takes calls that are ready, of tools that this host has exactly as they were registered and can hold,',
    'runs each in a cell, and tells the database what came of it. Any number of hosts may do so; each call',
    'is run by one of them. See docs/runners.md.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'database', value: 'URL', help: 'the store of the team; or the variable CORDON_DATABASE' },
        { name: 'tools', value: 'FILE|DIR', repeatable: true, help: 'tools of this host: .yaml, .json or modules' },
        { name: 'name', value: 'NAME', help: 'what people call this runner; the name of the host' },
        { name: 'label', value: 'LABEL', repeatable: true, help: 'something this host has that tools may need' },
        { name: 'concurrency', value: 'N', help: 'calls at the same time; as many as there are cores' },
        { name: 'workspace', value: 'DIR', help: 'where tools run; the current directory' },
        { name: 'secret', value: 'ID=SOURCE', repeatable: true, help: 'where the value of a credential comes from' },
        { name: 'key', value: 'FILE', help: 'opens credentials of the store (ID=store:TEAM/NAME); or CORDON_KEY_FILE' },
        { name: 'resolve', value: 'HOST=ADDRESS', repeatable: true, help: 'pins a name of a host that tools are granted to an address' },
        { name: 'upstream-ca', value: 'FILE', help: 'trusts these certificates of servers that tools are granted' },
        { name: 'json', help: 'what happens as lines of JSON on stdout' },
      ],
    },
    {
      title: 'instead of running',
      options: [
        { name: 'prepare', help: 'bring the database up to date, with its queue, and end' },
        { name: 'registration', value: 'TOOL', help: 'print a tool as `cordon tools register` takes it, and end' },
        { name: 'registrations', help: 'print all of them as a list, which it takes as well: … --registrations | cordon tools register -' },
      ],
    },
  ],
  notes: [
    'SIGTERM and SIGINT: takes nothing new, ends when what runs has ended; the second one cancels what runs,',
    'the third ends at once. Exit status: 0 after that, 125 when it could not begin.',
  ],
}
