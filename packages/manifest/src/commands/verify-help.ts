import { flag, value, values } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

import { PROJECT_OPTIONS } from './manifest-help.js'

export const VERIFY_HELP: CommandHelp = {
  usage: 'cordon manifest verify --baseline FILE|GIT-REF [options] [MANIFEST]',
  summary: 'show what the tools of a project can newly do',
  description: [
    'Compares a project with a baseline by meaning, and shows everything that it newly allows, each with an example.',
    'What narrows or only moves is not shown. MANIFEST is compared instead of the project, and no code is loaded.',
    'A baseline that ends in .json, .yaml or .yml is a file. Any other is a commit that has cordon.manifest.json.',
  ],
  groups: [
    {
      title: 'baseline',
      options: [
        value('baseline', 'FILE|GIT-REF', 'the manifest to compare with', 'base'),
        values('accept', 'FINGERPRINT', 'accept this finding; at least its first 8 characters'),
        flag('accept-all', 'accept all findings'),
        value('reason', 'TEXT', 'why they are accepted; kept in the baseline', 'because message'),
      ],
    },
    PROJECT_OPTIONS,
    {
      title: 'output',
      options: [
        value('format', 'FORM', 'text, markdown (pull requests), json, sarif or github (annotations) (default: text)'),
      ],
    },
  ],
  notes: [
    'Acceptances for a commit are kept in cordon.manifest.json of the checkout.',
    'Exit status: 0 nothing new, or accepted; 1 findings; 2 wrong usage, or a file cannot be read; 3 the project or',
    'the commit cannot be read.',
  ],
}
