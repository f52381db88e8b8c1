// The help of `cordon manifest` and its actions.
import { flag, value, values } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

/** The options that say which project is described. Each action has them. */
const PROJECT_OPTIONS = {
  title: 'project',
  options: [
    value('project', 'FOLDER', 'the folder of the project (default: the current directory)', 'folder cwd workspace'),
    value('config', 'FILE', 'its configuration (default: cordon.config.ts, .js, .mjs or .json in its folder)'),
    values('entry', 'FILE', 'a module that creates agents or exports tools, instead of those of the configuration'),
    value('timeout', 'TIME', 'stop loading them after this long (default: 1m)'),
  ],
} as const

export const MANIFEST_HELP: CommandHelp = {
  usage: 'cordon manifest generate|verify|inspect|suggest [options]',
  summary: 'describe what the tools of a project may do',
  description: [
    'A manifest is one file with the rights of every tool of a project: its policy, its rules, its credentials, its',
    'MCP servers. The same project always gets the same file, so a reviewer sees what a change newly allows.',
    '',
    'generate writes the manifest. verify compares the project with a baseline, and shows what is newly allowed.',
    'inspect shows what each tool may do. suggest prints the least policy for the code of one tool.',
  ],
  groups: [],
  notes: [
    '`cordon manifest ACTION --help` explains an action.',
    'Exit status: 0 success; 1 findings; 2 wrong usage, or a file cannot be read; 3 the project cannot be described.',
  ],
}

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
