import type { CommandHelp } from '../help.js'

export const DOCTOR_HELP: CommandHelp = {
  usage: 'cordon doctor [--json]',
  summary: 'what this host can enforce, and how to get more',
  description: [
    'Builds small cells to find out which boundaries this host holds and by which mechanisms, says',
    'which form of the cell is chosen and why, and names the causes of what is missing.',
  ],
  groups: [{ title: 'options', options: [{ name: 'json', help: 'the same as JSON on stdout' }] }],
  notes: ['Exit status: 0 when this host can hold a cell, 1 when it cannot.'],
}
