// `cordon hook`: the hook of a coding agent, and its installation.
import { unknownAction } from '../arguments.js'
import type { CommandLine } from '../command-line.js'
import type { Agent } from './agent.js'

/** Each is loaded alone, because the hook runs before every tool call. */
export const AGENTS: Readonly<Record<string, () => Promise<Agent>>> = {
  'claude-code': async () => (await import('./agents/claude-code.js')).CLAUDE_CODE,
}

export const hook = async (line: CommandLine): Promise<number> => {
  const [action, ...rest] = line.given.rest
  const load = action !== undefined && Object.hasOwn(AGENTS, action) ? AGENTS[action] : undefined
  if (load !== undefined && rest.length === 0) return (await import('./answer-hook.js')).answerHook(await load(), line)
  throw unknownAction(action, ['install', 'uninstall', 'list', ...Object.keys(AGENTS)], 'cordon hook')
}
