import { flag, value } from '../arguments.js'
import type { CommandHelp } from '../help.js'
import { STORE_OPTIONS } from '../store/store-help.js'

export const WHY_HELP: CommandHelp = {
  usage: 'cordon why [options] CALL',
  summary: 'explain why a call ran or did not',
  description: [
    'Explains one call: the decision, the rule with its file and line, what would change it, its boundary,',
    'the hosts it reached, and what was refused. CALL is the id of a call in the audit log, the start of it, or',
    '"last". For a call of a team, it also shows who asked, who approved or rejected, and the log entries. Use its',
    'whole id, or name the store and give the start or end of the id, or "last".',
  ],
  groups: [
    {
      title: 'options',
      options: [
        value('log', 'FILE', 'the audit log (default: as for cordon log)'),
        flag('json', 'print its events as JSON, one per line'),
      ],
    },
    { title: 'store, for a call of a team', options: STORE_OPTIONS },
  ],
  notes: ['Exit status: 0 found; 1 no such call, or the store cannot be reached; 2 wrong usage, or no such log.'],
}
