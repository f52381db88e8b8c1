// Gemini CLI: https://geminicli.com/docs/hooks/reference
import { dirname, join, resolve } from 'node:path'

import type { JsonObject } from '../../gate/index.js'

import type { Agent } from '../agent.js'
import { hookList } from '../hook-list.js'
import { HOST_SECONDS } from '../installed-command.js'
import { textIn, toolCallIn } from '../message.js'
import { GIVES_INSTRUCTIONS, READS_PAGES, actionOf } from '../tool-action.js'
import type { ToolTable } from '../tool-action.js'
import { SILENCE, jsonAnswer, withCommand } from './pre-tool-use.js'

const NAME = 'gemini'
const EVENT = 'BeforeTool'
/** In Gemini CLI, settings turn a hook off by its name. */
export const HOOK_NAME = 'cordon'
const FOLDER = ['dir_path|path']

const TOOLS: ToolTable = {
  agent: NAME,
  shell: { run_shell_command: 'command' },
  files: {
    read_file: { read: ['file_path|absolute_path'] },
    write_file: { write: ['file_path'] },
    replace: { write: ['file_path'] },
    list_directory: { folder: FOLDER },
    glob: { folder: FOLDER, names: ['pattern'] },
    grep_search: { folder: FOLDER, filter: ['include', 'include_pattern'] },
    search_file_content: { folder: FOLDER, filter: ['include'] },
    read_many_files: { folder: FOLDER, contents: ['include', 'paths'] },
  },
  harmless: ['write_todos', 'ask_user', 'enter_plan_mode', 'exit_plan_mode', 'complete_task'],
  others: {
    google_web_search: READS_PAGES,
    web_fetch: READS_PAGES,
    save_memory: 'writes into the memory file of the user',
    activate_skill: GIVES_INSTRUCTIONS,
  },
}

export const GEMINI: Agent = {
  name: NAME,
  title: 'Gemini CLI',
  canAsk: () => false,
  parse: (message, { GEMINI_PROJECT_DIR: project }) => {
    const { tool, input } = toolCallIn(message, EVENT, NAME)
    const start = textIn(message, 'cwd', NAME)
    const action = actionOf(tool, input, TOOLS)
    // A command runs in the folder that the model chooses. It is not the workspace.
    const { dir_path: folder } = input
    const cwd = action.kind === 'shell' && typeof folder === 'string' ? resolve(start, folder) : start
    const workspace = project?.startsWith('/') === true ? project : start
    return { tool, action, workspace, cwd, outputs: outputsOf(message) }
  },
  answer: (verdict, message) => {
    if (verdict.kind !== 'run') return jsonAnswer({ decision: 'deny', reason: verdict.reason })
    if (verdict.command === undefined) return SILENCE
    // Gemini CLI takes these fields in place of all arguments of the model.
    const output = { hookEventName: EVENT, tool_input: withCommand(message, verdict.command, NAME) }
    return jsonAnswer({ decision: 'allow', hookSpecificOutput: output })
  },
  settings: {
    // Not the settings of the machine: 0.61.0 did not run a hook of theirs.
    files: { project: '.gemini/settings.json', user: '~/.gemini/settings.json' },
    isProjectShared: true,
    moved: [
      { variable: 'GEMINI_CLI_HOME', from: '~' },
      { variable: 'GEMINI_CLI_SYSTEM_SETTINGS_PATH', from: '/etc/gemini-cli/settings.json' },
    ],
    ...hookList({
      agent: NAME,
      lists: [['hooks', EVENT]],
      entry: (command) => ({
        matcher: '.*',
        hooks: [{ name: HOOK_NAME, type: 'command', command, timeout: HOST_SECONDS * 1000 }],
      }),
    }),
  },
  notHeld: [
    'Gemini CLI has no answer "ask". Cordon denies such a call, and says which rule would allow it.',
    'Gemini CLI asks its user about the rewritten command by its own settings.',
    'If hooks are turned off in its settings, or /bin/sh is missing, Gemini CLI runs no hook and says nothing to Cordon.',
    'In the sandbox of Gemini CLI (--sandbox) no cell can start, and every command fails.',
    'File tools run in Gemini CLI itself. Cordon checks their paths, but no cell confines them.',
  ],
}

/** Of this session alone: outputs that are too long for the model. The transcript is in `chats` beside them. */
const outputsOf = ({ transcript_path: transcript, session_id: session }: JsonObject): readonly string[] =>
  typeof transcript === 'string' && typeof session === 'string' && /^[\w-]+$/.test(session)
    ? [join(dirname(dirname(transcript)), 'tool-outputs', `session-${session}`)]
    : []
