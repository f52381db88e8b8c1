// VS Code (GitHub Copilot): https://code.visualstudio.com/docs/agents/reference/hooks-reference
import type { Agent } from '../agent.js'
import { hookList } from '../hook-list.js'
import { HOST_SECONDS } from '../installed-command.js'
import { textIn, toolCallIn } from '../message.js'
import { patchedFiles } from '../patched-files.js'
import { READS_PAGES, actionOf } from '../tool-action.js'
import type { ToolTable } from '../tool-action.js'
import { answerToAsker } from './pre-tool-use.js'

const NAME = 'vscode'

const TOOLS: ToolTable = {
  agent: NAME,
  shell: { run_in_terminal: 'command', runTerminalCommand: 'command' },
  files: {
    read_file: { read: ['filePath'] },
    list_dir: { read: ['path'] },
    create_file: { write: ['filePath'] },
    create_directory: { write: ['dirPath'] },
    insert_edit_into_file: { write: ['filePath'] },
    replace_string_in_file: { write: ['filePath'] },
    editFiles: { write: ['files'] },
  },
  harmless: ['manage_todo_list', 'get_terminal_output', 'runSubagent'],
  others: { fetch_webpage: READS_PAGES },
}

export const VSCODE: Agent = {
  name: NAME,
  title: 'VS Code',
  canAsk: () => true,
  parse: (message) => {
    const key = 'hookEventName' in message ? 'hookEventName' : 'hook_event_name'
    const { tool, input } = toolCallIn(message, 'PreToolUse', NAME, key)
    const action =
      tool === 'apply_patch' ? patchedFiles(textIn(input, 'input', NAME), NAME) : actionOf(tool, input, TOOLS)
    const cwd = textIn(message, 'cwd', NAME)
    return { tool, action, workspace: cwd, cwd }
  },
  answer: (verdict, message) => answerToAsker(verdict, message, NAME),
  settings: {
    files: { project: '.github/hooks/cordon.json', user: '~/.copilot/hooks/cordon.json' },
    isProjectShared: true,
    ...hookList({
      agent: NAME,
      lists: [['hooks', 'PreToolUse']],
      entry: (command) => ({ type: 'command', command, timeout: HOST_SECONDS }),
    }),
  },
  notHeld: [
    'Hooks of VS Code are a preview. An administrator can turn them off, and VS Code then says nothing to Cordon.',
    'VS Code ignores a changed input that does not fit the schema of its tool. The command would then run without a cell.',
    'A terminal that you or the agent opened before stays outside of Cordon.',
    'File tools run in VS Code itself. Cordon checks their paths, but no cell confines them.',
  ],
}
