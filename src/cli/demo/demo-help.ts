import type { CommandHelp } from '../help.js'

export const DEMO_HELP: CommandHelp = {
  usage: 'cordon demo',
  summary: 'an attack on an agent, and what becomes of it',
  description: [
    'Plays an attack on an agent with four tools: a search result tells the model to send a (made-up) key away,',
    'and the model obeys. Every step is really made, on this machine alone; shown is what was held, and by what.',
  ],
  groups: [],
  notes: ['Exit status: 0 when every boundary held, 1 when one did not.'],
}
