// Cursor: https://cursor.com/docs/agent/hooks
import type { JsonObject } from '../../gate/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { Agent } from '../agent.js'
import { hookList } from '../hook-list.js'
import { textOrTexts, toolCallIn, unreadable } from '../message.js'
import { READS_PAGES, actionOf } from '../tool-action.js'
import type { ToolTable } from '../tool-action.js'
import { jsonAnswer, withCommand } from './pre-tool-use.js'

const NAME = 'cursor'
const PATH = 'file_path|path|target_file'

const TOOLS: ToolTable = {
  agent: NAME,
  shell: { Shell: 'command' },
  files: {
    Read: { read: [PATH] },
    Write: { write: [PATH] },
    StrReplace: { write: [PATH] },
    Edit: { write: [PATH] },
    Delete: { write: [PATH] },
    Grep: { folder: ['path'], filter: ['glob'] },
    Glob: { folder: ['target_directory|path'], names: ['glob_pattern|pattern'] },
    LS: { folder: ['target_directory|path'] },
  },
  harmless: ['Task', 'TodoWrite', 'AskQuestion', 'SwitchMode'],
  others: {
    WebFetch: READS_PAGES,
    WebSearch: READS_PAGES,
  },
}

export const CURSOR: Agent = {
  name: NAME,
  title: 'Cursor',
  // Its schema has "ask" for this event, and its documentation says that it does nothing.
  canAsk: () => false,
  parse: (message) => {
    const { tool, input } = toolCallIn(message, 'preToolUse', NAME)
    const [workspace] = textOrTexts(message['workspace_roots']) ?? []
    if (workspace === undefined) throw unreadable(NAME, 'has no "workspace_roots"')
    return { tool: ruleName(tool), action: actionOf(tool, input, TOOLS), workspace, cwd: cwdOf(message, workspace) }
  },
  answer: (verdict, message) => {
    if (verdict.kind !== 'run')
      return jsonAnswer({ permission: 'deny', user_message: verdict.reason, agent_message: verdict.reason })
    const changed = verdict.command === undefined ? undefined : withCommand(message, verdict.command, NAME)
    return jsonAnswer({ permission: 'allow', ...withoutUndefined({ updated_input: changed }) })
  },
  settings: {
    files: { project: '.cursor/hooks.json', user: '~/.cursor/hooks.json' },
    isProjectShared: true,
    ...hookList({
      agent: NAME,
      lists: [['hooks', 'preToolUse']],
      entry: (command) => ({ command, failClosed: true }),
      also: [{ at: ['version'], value: 1, isRemoved: false }],
    }),
  },
  notHeld: [
    'Cursor does nothing with the answer "ask" here. Cordon denies such a call, and says which rule would allow it.',
    'Only the agent calls hooks: Tab completions and what you type in the terminal do not.',
    'In the sandbox of Cursor no cell can start, and commands fail. Turn it off for the agent.',
    'File tools run in Cursor itself. Cordon checks their paths, but no cell confines them.',
  ],
}

/** `MCP:search issues` → `MCP:search_issues`: names of rules have no blanks. */
const ruleName = (tool: string): string => tool.replaceAll(' ', '_')

const cwdOf = (message: JsonObject, workspace: string): string => {
  const { cwd } = message
  return typeof cwd === 'string' && cwd !== '' ? cwd : workspace
}
