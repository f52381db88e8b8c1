// `cordon hook`: the hook of a coding agent, and its installation.
import { nearestKey } from '../../policy/index.js'

import { unknownAction, usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/command-line.js'
import type { Agent } from '../../hook/agent.js'

const COMMAND = 'cordon hook'

/** Each is loaded alone, because the hook runs before every tool call. */
const AGENTS: Readonly<Record<string, () => Promise<Agent>>> = {
  'claude-code': async () => (await import('../../hook/agents/claude-code.js')).CLAUDE_CODE,
  'codex': async () => (await import('../../hook/agents/codex.js')).CODEX,
  'gemini': async () => (await import('../../hook/agents/gemini.js')).GEMINI,
  'cursor': async () => (await import('../../hook/agents/cursor.js')).CURSOR,
  'vscode': async () => (await import('../../hook/agents/vscode.js')).VSCODE,
  'opencode': async () => (await import('../../hook/agents/opencode.js')).OPENCODE,
}

const ACTIONS = ['install', 'uninstall', 'list', 'check']

export const hook = async (line: CommandLine): Promise<number> => {
  const [action, ...rest] = line.given.rest
  if (action === undefined || (!ACTIONS.includes(action) && !Object.hasOwn(AGENTS, action)))
    throw unknownAction(action, [...ACTIONS, ...Object.keys(AGENTS)], COMMAND)
  const expected = action === 'install' || action === 'uninstall' || action === 'check' ? 1 : 0
  if (rest.length > expected) throw usage(`unexpected word ${rest[expected] ?? ''}`, COMMAND)
  switch (action) {
    case 'install':
      return (await import('../../hook/install-hook.js')).installHook(await agentNamed(rest[0]), line)
    case 'uninstall':
      return (await import('../../hook/uninstall-hook.js')).uninstallHook(await agentNamed(rest[0]), line)
    case 'list':
      return (await import('../../hook/check-hooks.js')).listHooks(await allAgents(), line)
    case 'check': {
      const agents = rest[0] === undefined ? await allAgents() : [await agentNamed(rest[0])]
      return (await import('../../hook/check-hooks.js')).checkHooks(agents, line)
    }
    default:
      return (await import('../../hook/answer-hook.js')).answerHook(await agentNamed(action), line)
  }
}

export const allAgents = (): Promise<readonly Agent[]> => Promise.all(Object.values(AGENTS).map((load) => load()))

const agentNamed = async (name: string | undefined): Promise<Agent> => {
  const load = name !== undefined && Object.hasOwn(AGENTS, name) ? AGENTS[name] : undefined
  if (load !== undefined) return load()
  const near = name === undefined ? undefined : nearestKey(name, Object.keys(AGENTS))
  throw usage(
    name === undefined ? 'no agent is named' : `there is no agent ${JSON.stringify(name)}`,
    COMMAND,
    near === undefined ? `name one of: ${Object.keys(AGENTS).join(', ')}` : `did you mean ${near}?`,
  )
}
