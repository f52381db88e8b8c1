// An agent with the tool runner of the SDK. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import Anthropic from '@anthropic-ai/sdk'
import { anthropicTools } from '@cordon/adapters/anthropic'

import { startProvider } from '../notes/provider.mjs'
import { openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')
const provider = await startProvider()
const client = new Anthropic({ baseURL: provider.url, apiKey: 'none' })
const cordon = await openNotes(folder)

const { runnerTools, runCalls, suspended, answer } = anthropicTools(cordon, { onAsk: 'suspend' })
let messages = [{ role: 'user', content: 'Tidy up the notes.' }]
if (what === 'resume') {
  const kept = JSON.parse(readFileSync(stateFile, 'utf8'))
  for (const call of kept.suspended) await answer(call, { kind: 'approve_once', by: 'ann' })
  messages = await runCalls(kept.messages)
}
const runner = client.beta.messages.toolRunner({ model: 'scripted', max_tokens: 1000, messages, tools: runnerTools })
for await (const { role, content } of runner) {
  const results = await runner.generateToolResponse()
  if (suspended().length === 0) continue
  // The runner would tell the model that the call waits. The next process replaces that with its result.
  messages = [...runner.params.messages, { role, content }, results]
  writeFileSync(stateFile, JSON.stringify({ messages, suspended: suspended() }))
  break
}
await cordon.close()
provider.close()
console.log(JSON.stringify(provider.heard))
