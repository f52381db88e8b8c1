import { flag, value, values } from '../line/arguments.js'
import type { CommandHelp } from '../line/help.js'
import { EGRESS, GRANTS, LIMITS } from '../run/request/run-options.js'

export const HOOK_HELP: CommandHelp = {
  usage: 'cordon hook install|uninstall AGENT [options] | list | check [AGENT] | AGENT',
  summary: "decide a coding agent's tool calls, and run its commands in cells",
  description: [
    'Agents: claude-code, codex, gemini, cursor, vscode, opencode. install adds the hook to the settings of an agent,',
    'uninstall removes it, list shows where it is installed, check says whether it is in force here, and why not. An',
    'agent starts `cordon hook AGENT` before each tool call: Cordon decides by its rules, records the decision, and',
    'rewrites a shell command to run in a cell.',
  ],
  groups: [
    {
      title: 'install, uninstall',
      options: [
        flag('project', 'for this folder (default)'),
        flag('user', 'for all projects of this user', 'global'),
        flag('managed', 'for all users; no project turns it off (root; claude-code, codex)'),
        flag('print', 'show the changed settings, and write nothing', 'dry-run'),
      ],
    },
    {
      title: 'decision',
      options: [
        value('mode', 'MODE', 'mode of the gate, see: cordon run --help (default: on_failure)'),
        values('rules', 'FILE', 'another rule file'),
        value('workspace', 'DIR', 'the folder of the project (default: the folder that the agent names)'),
        flag('no-cell', 'only decide: commands run as the agent runs them, without a cell'),
        flag('from-package', 'Cordon may be a package of the project, which no tool can change (cordon/claude-agent)'),
      ],
    },
    { title: 'grants of commands and file tools, as in cordon run', options: GRANTS },
    { title: 'limits', options: LIMITS },
    { title: 'network', options: EGRESS },
  ],
  notes: [
    'Default grants: the presets workspace and toolchains, and the policies named "agent" in .cordon/policies and',
    '~/.config/cordon/policies. --preset replaces these presets, --policy these policies. Relative paths start at the',
    'project. install keeps the options in the settings of the agent.',
    '',
    'Rules know a shell command as the tool cordon:run, with its command. Other tools have the name that the agent gives',
    'them: Read, Edit, mcp__github__create_issue. Paths of file tools must be granted. A tool that Cordon does not know',
    'asks, unless a rule allows it. Where an agent ignores a question, Cordon denies.',
    '',
    'Exit status of a hook: 0 answered; 2 the call is blocked. Of check: 0 if each agent with a hook calls it, 1 if',
    'not, or without a hook. Of the others: 0 success; 1 not done; 2 wrong usage, or a file cannot be read.',
  ],
}
