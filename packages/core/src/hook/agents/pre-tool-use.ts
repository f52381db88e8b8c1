// The answer that Claude Code, Codex and VS Code understand: `hookSpecificOutput` of the event PreToolUse.
import type { JsonObject } from '../../gate/index.js'

import type { Answer } from '../agent.js'

export const SILENCE: Answer = { stdout: '', stderr: '', status: 0 }

interface PreToolUse {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly reason: string
  readonly input?: JsonObject | undefined
}

export const preToolUse = ({ decision, reason, input }: PreToolUse): Answer => {
  const output = {
    hookEventName: 'PreToolUse',
    permissionDecision: decision,
    permissionDecisionReason: reason,
    ...(input === undefined ? {} : { updatedInput: input }),
  }
  return jsonAnswer({ hookSpecificOutput: output })
}

export const jsonAnswer = (value: Readonly<Record<string, unknown>>): Answer => ({
  stdout: `${JSON.stringify(value)}\n`,
  stderr: '',
  status: 0,
})

/** What a person reads where the agent shows why the hook allows. */
export const IN_A_CELL = 'Cordon runs it in a cell'
export const BY_A_RULE = 'a rule of Cordon allows it'
