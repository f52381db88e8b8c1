import type { CommandHelp } from './help.js'

export const DEMO_HELP: CommandHelp = {
  usage: 'cordon demo',
  summary: 'a few commands in cells, and what becomes of them',
  description: ['Runs some harmless commands, each in a cell, and shows what was held and by what.'],
  groups: [],
  notes: ['Exit status: 0 when every boundary held, 1 when one did not.'],
}
