import { flag, value } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

import { PROJECT_OPTIONS } from './manifest-help.js'

export const INSPECT_HELP: CommandHelp = {
  usage: 'cordon manifest inspect [options] [MANIFEST]',
  summary: 'show what each tool may do, and how private data could leave',
  description: [
    'Shows for each tool what it may read, write, reach, get and start, and whether its calls are approved.',
    'flow.exfiltration: an agent reads private data, returns text of others, and can send without an approval.',
    'Grants are unused if the code of the tool that could be followed does not use them.',
    'MANIFEST is shown instead of the project, and no code is loaded.',
  ],
  groups: [
    PROJECT_OPTIONS,
    {
      title: 'output',
      options: [
        value('format', 'FORM', 'text, markdown, mermaid, svg or json (default: text)'),
        flag('no-code', 'do not look for unused grants in the code of the project'),
      ],
    },
  ],
  notes: [
    'Exit status: 0 shown; 1 an agent has an exfiltration path; 2 wrong usage; 3 the project cannot be described.',
  ],
}
