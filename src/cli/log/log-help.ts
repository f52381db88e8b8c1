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
        {
          name: 'call',
          value: 'ID',
          meantBy: ['id', 'call-id'],
          help: 'only this call; the start of its id is enough',
        },
        {
          name: 'type',
          value: 'TYPE',
          repeatable: true,
          meantBy: ['event'],
          help: 'only this type, such as tool.denied, or a group, such as tool',
        },
        {
          name: 'since',
          value: 'TIME',
          meantBy: ['after', 'from'],
          help: 'only since this time: 2026-01-31T12:00, or 30m, 2h, 7d ago',
        },
      ],
    },
    {
      title: 'export',
      options: [
        {
          name: 'format',
          value: 'FORMAT',
          meantBy: ['output'],
          help: 'jsonl (original lines), cloudevents (1.0) or ocsf (1.3, API Activity) (default: jsonl)',
        },
        {
          name: 'cursor',
          value: 'FILE',
          meantBy: ['state'],
          help: 'remember the position in FILE; the next export continues there',
        },
      ],
    },
    {
      title: 'log of a team (export, verify, prune)',
      options: [
        ...STORE_OPTIONS,
        {
          name: 'keep',
          value: 'DAYS',
          meantBy: ['older-than', 'retention'],
          help: 'keep entries younger than this, such as 400d (prune)',
        },
      ],
    },
    {
      title: 'options',
      options: [
        { name: 'json', help: 'print the original lines; with verify: findings as JSON' },
        { name: 'anchor', value: 'FILE', help: 'the anchor file (default: FILE.anchor) (verify)' },
      ],
    },
  ],
  notes: [
    'Exit status: 0 success; 1 the log was changed (with each finding and its line), --call matches no call, or',
    'the store refused or cannot be reached; 2 wrong usage, or no such log.',
  ],
}
