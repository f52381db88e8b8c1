import { flag, value } from '../../line/arguments.js'
import type { CommandHelp } from '../../line/help.js'

export const WHY_HELP: CommandHelp = {
  usage: 'cordon why [options] CALL',
  summary: 'explain why a call ran or did not',
  description: [
    'Explains one call: the decision, the rule with its file and line, what would change it, its boundary,',
    'the hosts it reached, and what was refused. CALL is the id of a call in the audit log, the start of it, or',
    '"last".',
  ],
  groups: [
    {
      title: 'options',
      options: [
        value('log', 'FILE', 'the audit log (default: as for cordon log)'),
        flag('json', 'print its events as JSON, one per line'),
      ],
    },
  ],
  notes: ['Exit status: 0 found; 1 no such call; 2 wrong usage, or no such log.'],
}
