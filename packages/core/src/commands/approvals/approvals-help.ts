import { flag } from '../../line/arguments.js'
import type { CommandHelp } from '../../line/help.js'

export const APPROVALS_HELP: CommandHelp = {
  usage: 'cordon approvals list|watch | show|approve [ID] | reject ID | advance TOOL | revoke ID [options]',
  summary: 'list, approve and reject pending calls',
  description: [
    'list --given prints your answers "always" and "session" to cordon run and to hooks, as long as they are valid.',
    'revoke takes one of them back: the next such command is asked about again.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        flag('given', 'list answers "always" and "session" of this user (list)', 'local always session'),
        flag('json', 'print JSON'),
      ],
    },
  ],
  notes: [],
}
