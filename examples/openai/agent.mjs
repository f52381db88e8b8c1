// An agent with the OpenAI Agents SDK. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Agent, OpenAIProvider, RunState, Runner } from '@openai/agents'
import { agentTools } from '@cordon/adapters/openai'

import { startProvider } from '../notes/provider.mjs'
import { openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')
const provider = await startProvider()
const modelProvider = new OpenAIProvider({ baseURL: `${provider.url}/v1`, apiKey: 'none', useResponses: true })
const runner = new Runner({ modelProvider, tracingDisabled: true })
const cordon = await openNotes(folder)

const { tools, suspended, answer } = agentTools(cordon, { onAsk: 'suspend' })
const agent = new Agent({ name: 'notes', model: 'scripted', tools })
if (what === 'start') {
  const { state } = await runner.run(agent, 'Tidy up the notes.')
  writeFileSync(stateFile, JSON.stringify({ state: state.toString(), suspended: suspended() }))
} else {
  const kept = JSON.parse(readFileSync(stateFile, 'utf8'))
  const state = await RunState.fromString(agent, kept.state)
  for (const call of kept.suspended) await answer(call, { kind: 'approve_once', by: 'ann' })
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  await runner.run(agent, state)
}
await cordon.close()
provider.close()
console.log(JSON.stringify(provider.heard))
