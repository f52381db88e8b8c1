import type { CommandHelp } from '../help.js'
import { STORE_OPTIONS } from '../store/store-help.js'

export const WHY_HELP: CommandHelp = {
  usage: 'cordon why [options] CALL',
  summary: 'why a call ran or did not',
  description: [
    'Says of a call in the audit log what was decided about it, by which rule of which file and line, what',
    'would change it, within what it ran, which hosts it reached, and what it was refused. CALL is its id, or the',
    'beginning of it, as `cordon log show` has it; "last" is the last call of the log. Of a call in the store of a team,',
    'by its whole id (or, where the store is named, its beginning, its end or "last"), it says who asked for it, what held it, who said yes or no, and its record.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'log', value: 'FILE', help: 'the log (otherwise: the one of cordon log)' },
        { name: 'json', help: 'its events, one per line' },
      ],
    },
    { title: 'the store, for a call of a team', options: STORE_OPTIONS },
  ],
  notes: ['Exit status: 0 when there is such a call, 1 when there is none or the store cannot be reached, 2 when no call is', 'named or there is no such log.'],
}
