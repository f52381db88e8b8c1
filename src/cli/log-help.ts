import type { CommandHelp } from './help.js'

export const LOG_HELP: CommandHelp = {
  usage: 'cordon log show|follow|verify [options] [FILE]',
  summary: 'what was called and why, and whether the record is intact',
  description: [
    'show prints the entries of the audit log, follow prints new ones as they are written, and verify',
    'checks every line of all its files against the chain and its anchor. FILE is $CORDON_AUDIT, or else',
    '$XDG_STATE_HOME/cordon/audit.jsonl, which is ~/.local/state/cordon/audit.jsonl unless that is set.',
  ],
  groups: [
    {
      title: 'which entries (show, follow)',
      options: [
        { name: 'call', value: 'ID', meantBy: ['id', 'call-id'], help: 'of one call; the beginning of its id is enough' },
        { name: 'type', value: 'TYPE', repeatable: true, meantBy: ['event'], help: 'of this type, such as tool.denied, or tool for all of those' },
        { name: 'since', value: 'TIME', meantBy: ['after', 'from'], help: 'from this time on: 2026-01-31T12:00, or 30m, 2h, 7d ago' },
      ],
    },
    {
      title: 'options',
      options: [
        { name: 'json', help: 'lines as they are in the log; of verify, its findings as JSON' },
        { name: 'anchor', value: 'FILE', help: 'the anchor, where it is not FILE.anchor (verify)' },
      ],
    },
  ],
  notes: [
    'Exit status: 0 when all is well, 1 when the log is not what was written (each finding is told with its',
    'line) or --call names none of its calls, 2 when the command line cannot be understood or there is no such log.',
  ],
}
