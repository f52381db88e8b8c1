// Codex: https://developers.openai.com/codex/hooks
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

import type { JsonObject } from '../../gate/index.js'
import { isMapping } from '../../shapes/index.js'

import type { Agent } from '../agent.js'
import { hookList } from '../hook-list.js'
import { HOST_SECONDS } from '../installed-command.js'
import { textIn, toolCallIn, unreadable } from '../message.js'
import { patchedFiles } from '../patched-files.js'
import { READS_PAGES, actionOf } from '../tool-action.js'
import type { ToolTable } from '../tool-action.js'
import { IN_A_CELL, SILENCE, preToolUse } from './pre-tool-use.js'

const NAME = 'codex'

// Codex gives every tool that runs commands the name Bash.
const TOOLS: ToolTable = {
  agent: NAME,
  shell: { Bash: 'command' },
  files: { view_image: { read: ['path'] } },
  harmless: ['update_plan', 'spawn_agent', 'wait_agent', 'wait', 'close_agent', 'request_user_input'],
  others: { web_search: READS_PAGES },
}

export const CODEX: Agent = {
  name: NAME,
  title: 'Codex',
  // It runs a call whose hook says "ask".
  canAsk: () => false,
  parse: (message) => {
    const { tool, input } = toolCallIn(message, 'PreToolUse', NAME)
    const action =
      tool === 'apply_patch' ? patchedFiles(textIn(input, 'command', NAME), NAME) : actionOf(tool, input, TOOLS)
    // The model chooses `cwd`, the folder of this command. A workspace of its choice would be a grant of its choice.
    return { tool, action, workspace: textOf(turnOf(message)?.['cwd']), cwd: textIn(message, 'cwd', NAME) }
  },
  cellProblem: (message) => {
    const policy = turnOf(message)?.['sandbox_policy']
    const kind = isMapping(policy) ? textOf(policy['type']) : undefined
    if (kind === undefined || kind === 'danger-full-access' || kind === 'external-sandbox') return undefined
    return {
      problem: `Codex runs commands in its own sandbox (${kind}), in which the cell of Cordon cannot start`,
      fix:
        "let the cell take its place: codex --sandbox danger-full-access; or keep Codex's sandbox, and let Cordon " +
        'only decide: cordon hook install codex --no-cell',
    }
  },
  answer: (verdict) => {
    if (verdict.kind !== 'run') return preToolUse({ decision: 'deny', reason: verdict.reason })
    // Codex takes "allow" only together with a changed input.
    if (verdict.command === undefined) return SILENCE
    return preToolUse({ decision: 'allow', reason: IN_A_CELL, input: { command: verdict.command } })
  },
  settings: {
    files: { project: '.codex/hooks.json', user: '~/.codex/hooks.json', managed: '/etc/codex/hooks.json' },
    isProjectShared: true,
    moved: [{ variable: 'CODEX_HOME', from: '~/.codex' }],
    ...hookList({
      agent: NAME,
      lists: [['hooks', 'PreToolUse']],
      entry: (command) => ({ matcher: '*', hooks: [{ type: 'command', command, timeout: HOST_SECONDS }] }),
    }),
  },
  notHeld: [
    'Codex runs a new or changed hook only after you trusted it: start codex, and review it with /hooks.',
    'Codex reads the hooks of a project only if you trust the project.',
    'With features.hooks = false, or if /bin/sh is missing, Codex runs no hook and says nothing to Cordon.',
    'Codex ignores the answer "ask". Cordon denies such a call, and says which rule would allow it.',
    'In the sandboxes read-only and workspace-write no cell can start. Cordon denies commands there, or only decides ' +
      'with --no-cell.',
    'Input that the model types into a running command (write_stdin) reaches that command in its cell without a hook.',
    'apply_patch runs in Codex itself. Cordon checks its paths, but no cell confines it.',
  ],
}

const LONGEST_TRANSCRIPT = 512 * 1024 * 1024
const TURN = '"type":"turn_context"'

/** The settings of the current turn, which Codex writes into its transcript. Undefined if there is no transcript. */
const turnOf = (message: JsonObject): JsonObject | undefined => {
  const path = message['transcript_path']
  if (typeof path !== 'string') return undefined
  const text = readTranscript(path)
  for (let at = text.lastIndexOf(TURN); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(TURN, at - 1)) {
    const start = text.lastIndexOf('\n', at) + 1
    const end = text.indexOf('\n', at)
    const line: unknown = JSON.parse(text.subarray(start, end < 0 ? text.length : end).toString('utf8'))
    // The same words may stand deeper in the line of a tool.
    if (isMapping(line) && line['type'] === 'turn_context' && isMapping(line['payload']))
      return line['payload'] as JsonObject
  }
  return undefined
}

const readTranscript = (path: string): Buffer => {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const status = fstatSync(descriptor)
    if (!status.isFile()) throw unreadable(NAME, 'names a transcript that is no file')
    if (status.size > LONGEST_TRANSCRIPT) throw unreadable(NAME, 'names a transcript that is too long')
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
