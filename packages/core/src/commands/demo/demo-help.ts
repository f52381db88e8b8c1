import type { CommandHelp } from '../../line/help.js'

export const DEMO_HELP: CommandHelp = {
  usage: 'cordon demo',
  summary: 'watch an attack on an agent fail',
  description: [
    'Plays an attack on an agent with four tools. A search result tells the model to send a (made-up) key away,',
    'and the model obeys. Every step really runs, on this machine only. The output shows what Cordon blocked, and how.',
  ],
  groups: [],
  notes: ['Exit status: 0 if every boundary held, 1 if one did not.'],
}
