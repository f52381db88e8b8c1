import type { CommandHelp } from 'cordon/commands'

import { PROJECT_OPTIONS } from './manifest-help.js'

export const SUGGEST_HELP: CommandHelp = {
  usage: 'cordon manifest suggest [options] TOOL',
  summary: 'print the least policy that the code of a tool needs',
  description: [
    'Reads the code of the tool, without running it, and prints the policy that grants what the code does. Each line',
    'names the place in the code. A policy is marked as incomplete if some code cannot be followed.',
  ],
  groups: [{ title: 'project', options: PROJECT_OPTIONS.options.filter(({ name }) => name === 'project') }],
  notes: ['Exit status: 0 complete; 1 incomplete; 2 wrong usage, or there is no such tool; 3 the code cannot be read.'],
}
