// Claude Code: https://code.claude.com/docs/en/hooks
import { basename, dirname, join } from 'node:path'

import type { JsonObject } from '../../gate/index.js'

import type { Agent } from '../agent.js'
import { hookList } from '../hook-list.js'
import { claudeCodeEntry } from '../installed-command.js'
import { textIn, toolCallIn } from '../message.js'
import { GIVES_INSTRUCTIONS, READS_PAGES, actionOf } from '../tool-action.js'
import type { ToolTable } from '../tool-action.js'
import { answerToAsker } from './pre-tool-use.js'

const NAME = 'claude-code'

const TOOLS: ToolTable = {
  agent: NAME,
  shell: { Bash: 'command' },
  files: {
    Read: { read: ['file_path'] },
    Write: { write: ['file_path'] },
    Edit: { write: ['file_path'] },
    MultiEdit: { write: ['file_path'] },
    NotebookEdit: { write: ['notebook_path'] },
    NotebookRead: { read: ['notebook_path'] },
    Glob: { folder: ['path'], names: ['pattern'] },
    Grep: { folder: ['path'], filter: ['glob'] },
    LS: { folder: ['path'] },
  },
  // The tools that a sub-agent calls come to the hook themselves.
  harmless: [
    ...['Agent', 'Task', 'TodoWrite', 'TodoRead', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate', 'TaskOutput'],
    ...['TaskStop', 'BashOutput', 'KillShell', 'KillBash', 'AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode'],
    'ToolSearch',
  ],
  others: {
    WebFetch: READS_PAGES,
    WebSearch: READS_PAGES,
    Monitor: 'runs a shell command without a cell',
    Skill: GIVES_INSTRUCTIONS,
    EnterWorktree: 'makes a git worktree, and works there',
    ExitWorktree: 'leaves a git worktree, and may remove it',
    CronCreate: 'starts prompts later',
    ScheduleWakeup: 'starts a prompt later',
    RemoteTrigger: 'starts agents elsewhere',
  },
}

export const CLAUDE_CODE: Agent = {
  name: NAME,
  title: 'Claude Code',
  canAsk: () => true,
  parse: (message, { CLAUDE_PROJECT_DIR: project, CLAUDE_CODE_TMPDIR: temporary = '/tmp' }) => {
    const { tool, input } = toolCallIn(message, 'PreToolUse', NAME)
    const cwd = textIn(message, 'cwd', NAME)
    // `cwd` follows the commands of the model, so it cannot be the workspace.
    const action = actionOf(tool, input, TOOLS)
    return { tool, action, workspace: project, cwd, outputs: outputsOf(message, temporary) }
  },
  // In its plan mode the user expects no changes, and a cell may write the project.
  answer: (verdict, message) =>
    answerToAsker(verdict, message, NAME, message['permission_mode'] === 'plan' ? 'ask' : 'allow'),
  settings: {
    // Not settings.json, which teams share: the command names paths of this machine.
    files: {
      project: '.claude/settings.local.json',
      user: '~/.claude/settings.json',
      managed: '/etc/claude-code/managed-settings.d/cordon.json',
    },
    moved: [{ variable: 'CLAUDE_CONFIG_DIR', from: '~/.claude' }],
    ...hookList({
      agent: NAME,
      lists: [['hooks', 'PreToolUse']],
      entry: (command) => claudeCodeEntry(command, '*'),
      // It outweighs the settings.json of the project, which comes with a clone and could turn all hooks off.
      also: [{ at: ['disableAllHooks'], value: false, scope: 'project', isRemoved: true }],
    }),
  },
  notHeld: [
    'Files that a user mentions with @ are read without a hook.',
    'With --bare, --safe-mode or disableAllHooks, Claude Code runs no hook and says nothing to Cordon.',
    'File tools run in Claude Code itself. Cordon checks their paths, but no cell confines them.',
    'Deny and ask rules of Claude Code about Bash see the command line of cordon run. Write them as rules of Cordon.',
    'Each command starts in the folder of the session: a cd does not last until the next command.',
  ],
}

/** Of this session alone: of commands in the background, and of commands whose output is too long for the model. */
const outputsOf = (message: JsonObject, temporary: string): readonly string[] => {
  const { transcript_path: transcript, session_id: session } = message
  if (typeof transcript !== 'string' || typeof session !== 'string' || !/^[\w-]+$/.test(session)) return []
  const project = dirname(transcript)
  return [
    join(temporary, `claude-${String(process.getuid?.() ?? 0)}`, basename(project), session, 'tasks'),
    join(project, session, 'tool-results'),
  ]
}
