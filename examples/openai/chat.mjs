// An agent with chat completions. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { chatTools } from '@cordon/adapters/openai'
import OpenAI from 'openai'

import { startProvider } from '../notes/provider.mjs'
import { openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')
const provider = await startProvider()
const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'none' })
const cordon = await openNotes(folder)

const { tools, runCalls, suspended, answer } = chatTools(cordon, { onAsk: 'suspend' })
let messages = [{ role: 'user', content: 'Tidy up the notes.' }]
if (what === 'resume') {
  const kept = JSON.parse(readFileSync(stateFile, 'utf8'))
  for (const call of kept.suspended) await answer(call, { kind: 'approve_once', by: 'ann' })
  messages = await runCalls(kept.messages)
}
while (suspended().length === 0) {
  const { choices } = await client.chat.completions.create({ model: 'scripted', messages, tools })
  messages = await runCalls([...messages, choices[0].message])
  if (choices[0].finish_reason === 'stop') break
}
if (what === 'start') writeFileSync(stateFile, JSON.stringify({ messages, suspended: suspended() }))
await cordon.close()
provider.close()
console.log(JSON.stringify(provider.heard))
