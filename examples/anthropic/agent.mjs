// An agent with the Messages API. check.mjs says how it is used.
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

const { tools, runCalls, suspended, answer } = anthropicTools(cordon, { onAsk: 'suspend' })
let messages = [{ role: 'user', content: 'Tidy up the notes.' }]
if (what === 'resume') {
  const kept = JSON.parse(readFileSync(stateFile, 'utf8'))
  for (const call of kept.suspended) await answer(call, { kind: 'approve_once', by: 'ann' })
  messages = await runCalls(kept.messages)
}
while (suspended().length === 0) {
  const { role, content, stop_reason } = await client.messages.create({
    model: 'scripted',
    max_tokens: 1000,
    messages,
    tools,
  })
  messages = await runCalls([...messages, { role, content }])
  if (stop_reason === 'end_turn') break
}
if (what === 'start') writeFileSync(stateFile, JSON.stringify({ messages, suspended: suspended() }))
await cordon.close()
provider.close()
console.log(JSON.stringify(provider.heard))
