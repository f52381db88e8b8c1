import { flag } from '../../line/arguments.js'
import type { CommandHelp } from '../../line/help.js'

export const EXPLAIN_HELP: CommandHelp = {
  usage: 'cordon explain [--json] CODE',
  summary: 'explain an error by its code, with its fix',
  description: [
    'Prints when an error happens, what the operator and the model are told, and the fix. CODE is the first word of the',
    'error, such as path-missing. Without a CODE it lists all codes. Words in braces are filled in.',
  ],
  groups: [{ title: 'options', options: [flag('json', 'print JSON')] }],
  notes: ['Exit status: 0 found; 2 no such code.'],
}
