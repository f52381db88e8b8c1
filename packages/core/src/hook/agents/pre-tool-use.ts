// The answers that agents understand. That of Claude Code, Codex and VS Code is `hookSpecificOutput` of PreToolUse.
import type { JsonObject } from '../../gate/index.js'

import type { Answer, Verdict } from '../agent.js'
import { mappingIn } from '../message.js'

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

/** The input of the tool with another command. The other fields stay: timeout, run_in_background, description. */
export const withCommand = (message: JsonObject, command: string, agent: string): JsonObject => ({
  ...mappingIn(message, 'tool_input', agent),
  command,
})

/** What a person reads where the agent shows why the hook allows. */
export const IN_A_CELL = 'Cordon runs it in a cell'
const BY_A_RULE = 'a rule of Cordon allows it'

/** For an agent that can ask its user. `inCell`: what a command in a cell needs. */
export const answerToAsker = (
  verdict: Verdict,
  message: JsonObject,
  agent: string,
  inCell: 'allow' | 'ask' = 'allow',
): Answer => {
  if (verdict.kind === 'deny') return preToolUse({ decision: 'deny', reason: verdict.reason })
  const input = verdict.command === undefined ? undefined : withCommand(message, verdict.command, agent)
  if (verdict.kind === 'ask') return preToolUse({ decision: 'ask', reason: verdict.reason, input })
  if (input !== undefined) return preToolUse({ decision: inCell, reason: IN_A_CELL, input })
  // Without an answer the agent asks its user by its own settings.
  return verdict.isAllowed ? preToolUse({ decision: 'allow', reason: BY_A_RULE }) : SILENCE
}
