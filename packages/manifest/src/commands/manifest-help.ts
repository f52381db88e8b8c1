import { value, values } from 'cordon/commands'
import type { CommandHelp } from 'cordon/commands'

/** The options that say which project is described. Each action has them. */
export const PROJECT_OPTIONS = {
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
