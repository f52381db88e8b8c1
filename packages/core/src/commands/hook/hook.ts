// `cordon hook`: the hook of a coding agent, and its installation.
import { nearestKey } from '../../policy/index.js'

import { unknownAction, usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import type { Agent } from '../../hook/agent.js'
import { AGENT_NAMES, agentNamed, allAgents } from '../../hook/known-agents.js'

const COMMAND = 'cordon hook'
const ACTIONS = ['install', 'uninstall', 'list', 'check']

export const hook = async (line: CommandLine): Promise<number> => {
  const [action, ...rest] = line.given.rest
  if (action === undefined || ![...ACTIONS, ...AGENT_NAMES].includes(action))
    throw unknownAction(action, [...ACTIONS, ...AGENT_NAMES], COMMAND)
  const expected = action === 'install' || action === 'uninstall' || action === 'check' ? 1 : 0
  if (rest.length > expected) throw usage(`unexpected word ${rest[expected] ?? ''}`, COMMAND)
  switch (action) {
    case 'install':
      return (await import('../../hook/install-hook.js')).installHook(await requireAgent(rest[0]), line)
    case 'uninstall':
      return (await import('../../hook/install-hook.js')).uninstallHook(await requireAgent(rest[0]), line)
    case 'list':
      return (await import('../../hook/check-hooks.js')).listHooks(await allAgents(), line)
    case 'check': {
      const agents = rest[0] === undefined ? await allAgents() : [await requireAgent(rest[0])]
      return (await import('../../hook/check-hooks.js')).checkHooks(agents, line)
    }
    default:
      return answer(await requireAgent(action), line)
  }
}

const answer = async (agent: Agent, line: CommandLine): Promise<number> => {
  const status = await (await import('../../hook/answer-hook.js')).answerHook(agent, line)
  if (!line.isFronted) return status
  // The agent has its answer, and a host is only faster.
  const { startHost } = await import('../../host/start-host.js')
  await startHost(line.environment).catch(() => undefined)
  return status
}

const requireAgent = async (name: string | undefined): Promise<Agent> => {
  const agent = name === undefined ? undefined : await agentNamed(name)
  if (agent !== undefined) return agent
  const near = name === undefined ? undefined : nearestKey(name, AGENT_NAMES)
  throw usage(
    name === undefined ? 'no agent is named' : `there is no agent ${JSON.stringify(name)}`,
    COMMAND,
    near === undefined ? `name one of: ${AGENT_NAMES.join(', ')}` : `did you mean ${near}?`,
  )
}
