import type { CommandHelp } from '../help.js'
import { STORE_OPTIONS } from '../store/store-help.js'

export const LOG_HELP: CommandHelp = {
  usage: 'cordon log show|follow|verify|export|prune [options] [FILE]',
  summary: 'what was called and why, and whether the record is intact',
  description: [
    'show prints the entries of the audit log, follow prints new ones as they are written, and verify',
    'checks every line of all its files against the chain and its anchor. FILE is $CORDON_AUDIT, or else',
    '$XDG_STATE_HOME/cordon/audit.jsonl, which is ~/.local/state/cordon/audit.jsonl unless that is set.',
    'export writes entries for other systems, one a line. With --store, --server or --database, export and',
    'verify are about the record of a team, and prune drops what is older than --keep from the store that one of them names.',
  ],
  groups: [
    {
      title: 'which entries (show, follow, export)',
      options: [
        { name: 'call', value: 'ID', meantBy: ['id', 'call-id'], help: 'of one call; the beginning of its id is enough' },
        { name: 'type', value: 'TYPE', repeatable: true, meantBy: ['event'], help: 'of this type, such as tool.denied, or tool for all of those' },
        { name: 'since', value: 'TIME', meantBy: ['after', 'from'], help: 'from this time on: 2026-01-31T12:00, or 30m, 2h, 7d ago' },
      ],
    },
    {
      title: 'export',
      options: [
        { name: 'format', value: 'FORMAT', meantBy: ['output'], help: 'jsonl (the default: as it is in the record, with its hashes), cloudevents (CloudEvents 1.0) or ocsf (OCSF 1.3, API Activity)' },
        { name: 'cursor', value: 'FILE', meantBy: ['state'], help: 'remembers how far it came: the next export goes on there' },
      ],
    },
    {
      title: 'the record of a team (export, verify, prune)',
      options: [...STORE_OPTIONS, { name: 'keep', value: 'DAYS', meantBy: ['older-than', 'retention'], help: 'what is younger stays, such as 400d (prune)' }],
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
    'line), --call names none of its calls, or the store refused it or cannot be reached, 2 when the command line cannot',
    'be understood or there is no such log.',
  ],
}
