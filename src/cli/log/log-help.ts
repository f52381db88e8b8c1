import { flag, value, values } from '../arguments.js'
import type { CommandHelp } from '../help.js'
import { STORE_OPTIONS } from '../store/store-help.js'

export const LOG_HELP: CommandHelp = {
  usage: 'cordon log show|follow|verify|export|prune [options] [FILE]',
  summary: 'show, verify and export the audit log',
  description: [
    'show prints entries of the audit log. follow prints new entries as they are written. verify checks every line',
    'against the hash chain and the anchor. export writes entries for other systems. FILE is the log (default:',
    '$CORDON_AUDIT, or $XDG_STATE_HOME/cordon/audit.jsonl, or ~/.local/state/cordon/audit.jsonl).',
    'With --store, --server or --database, export and verify work on the log of a team. prune removes',
    'entries older than --keep from the store that you name.',
  ],
  groups: [
    {
      title: 'filters (show, follow, export)',
      options: [
        value('call', 'ID', 'only this call; the start of its id is enough', 'id call-id'),
        values('type', 'TYPE', 'only this type, such as tool.denied, or a group, such as tool', 'event'),
        value('host', 'NAME', 'only connections to this host, and refusals of it (a file)', 'domain'),
        value('since', 'TIME', 'only since this time: 2026-01-31T12:00, or 30m, 2h, 7d ago', 'after from'),
      ],
    },
    {
      title: 'export',
      options: [
        value(
          'format',
          'FORMAT',
          'jsonl (original lines), cloudevents (1.0), ocsf (1.3, API Activity), otlp (default: jsonl)',
          'output',
        ),
        value('cursor', 'FILE', 'remember the position in FILE; the next export continues there', 'state'),
      ],
    },
    {
      title: 'log of a team (export, verify, prune)',
      options: [
        ...STORE_OPTIONS,
        value('keep', 'DAYS', 'keep entries younger than this, such as 400d (prune)', 'older-than retention'),
      ],
    },
    {
      title: 'options',
      options: [
        flag('json', 'print the original lines; with verify: findings as JSON'),
        value('log', 'FILE', 'the same as FILE, as in cordon why'),
        value('anchor', 'FILE', 'the anchor file (default: FILE.anchor) (verify)'),
      ],
    },
  ],
  notes: [
    'Exit status: 0 success; 1 the log was changed (with each finding and its line), --call matches no call, or',
    'the store refused or cannot be reached; 2 wrong usage, or no such log.',
  ],
}
