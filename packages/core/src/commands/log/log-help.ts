import { flag, value, values } from '../../line/arguments.js'
import type { CommandHelp } from '../../line/help.js'

export const LOG_HELP: CommandHelp = {
  usage: 'cordon log show|follow|verify|export [options] [FILE]',
  summary: 'show, verify and export the audit log',
  description: [
    'show prints entries of the audit log. follow prints new entries as they are written. verify checks every line',
    'against the hash chain and the anchor. export writes entries for other systems. FILE is the log (default:',
    '$CORDON_AUDIT, or $XDG_STATE_HOME/cordon/audit.jsonl, or ~/.local/state/cordon/audit.jsonl).',
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
      title: 'options',
      options: [
        flag('json', 'print the original lines; with verify: findings as JSON'),
        value('log', 'FILE', 'the same as FILE, as in cordon why'),
        value('anchor', 'FILE', 'the anchor file (default: FILE.anchor) (verify)'),
      ],
    },
  ],
  notes: [
    'Exit status: 0 success; 1 the log was changed (with each finding and its line), or --call matches no call;',
    '2 wrong usage, or no such log.',
  ],
}
