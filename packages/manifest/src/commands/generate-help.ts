import { value } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

import { PROJECT_OPTIONS } from './manifest-help.js'

export const GENERATE_HELP: CommandHelp = {
  usage: 'cordon manifest generate [options]',
  summary: 'write the manifest of a project',
  description: [
    'Loads the entries of the project in a sandbox, and writes what their tools may do. The sandbox can read the',
    'project, and has no network, no variables, no other programs and a time limit. No tool runs.',
  ],
  groups: [
    PROJECT_OPTIONS,
    {
      title: 'output',
      options: [
        value('out', 'FILE', 'the file to write, - for standard output (default: cordon.manifest.json)', 'output o'),
        value('format', 'FORM', 'json or yaml (default: yaml if FILE ends in .yaml or .yml, otherwise json)'),
      ],
    },
  ],
  notes: ['Exit status: 0 success; 2 wrong usage, or a file cannot be read; 3 the project cannot be described.'],
}
