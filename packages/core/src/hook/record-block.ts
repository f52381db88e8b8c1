// Records a call that the hook blocked before the gate could judge it.
import { commandWords } from './command/index.js'

import type { CommandLine } from '../line/command-line.js'
import { undecided } from '../run/facts.js'
import { recordRefusal } from '../run/record-refusal.js'
import type { Agent, AgentCall } from './agent.js'

export const recordBlock = async (
  agent: Agent,
  call: AgentCall | undefined,
  error: unknown,
  { given, environment }: CommandLine,
): Promise<void> => {
  const words = call?.action.kind === 'shell' ? commandWords(call.action.command) : [call?.tool ?? 'an unknown tool']
  const line = { given: { ...given, rest: ['cordon', 'hook', agent.name, ...words] }, environment }
  await recordRefusal(undecided(error, undefined, 'default', false), error, line)
}
