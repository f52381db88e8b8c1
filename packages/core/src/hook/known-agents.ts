// The coding agents. Each is loaded alone, because the hook runs before every tool call.
import type { Agent } from './agent.js'

const AGENTS: Readonly<Record<string, () => Promise<Agent>>> = {
  'claude-code': async () => (await import('./agents/claude-code.js')).CLAUDE_CODE,
  'codex': async () => (await import('./agents/codex.js')).CODEX,
  'gemini': async () => (await import('./agents/gemini.js')).GEMINI,
  'cursor': async () => (await import('./agents/cursor.js')).CURSOR,
  'vscode': async () => (await import('./agents/vscode.js')).VSCODE,
  'opencode': async () => (await import('./agents/opencode.js')).OPENCODE,
}

export const AGENT_NAMES: readonly string[] = Object.keys(AGENTS)

export const allAgents = (): Promise<readonly Agent[]> => Promise.all(Object.values(AGENTS).map((load) => load()))

/** Undefined if no agent has this name. */
export const agentNamed = async (name: string): Promise<Agent | undefined> =>
  Object.hasOwn(AGENTS, name) ? AGENTS[name]?.() : undefined
