import { flag } from '../../line/arguments.js'
import type { CommandHelp } from '../../line/help.js'

export const DOCTOR_HELP: CommandHelp = {
  usage: 'cordon doctor [--json]',
  summary: 'show what this host can enforce, and how to enable more',
  description: [
    'Builds small cells to test which boundaries this host can enforce, and how. It says which form of the',
    'cell Cordon uses and why, which container engine answers, which hooks of coding agents are in force in this',
    'folder, and explains what is missing.',
  ],
  groups: [{ title: 'options', options: [flag('json', 'print JSON')] }],
  notes: ['Exit status: 0 if this host can run cells, 1 if not, 2 for a wrong command line.'],
}
