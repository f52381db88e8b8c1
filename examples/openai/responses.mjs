// An agent with the responses API. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { responseTools } from '@cordon/adapters/openai'
import OpenAI from 'openai'

import { startProvider } from '../notes/provider.mjs'
import { openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')
const provider = await startProvider()
const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'none' })
const cordon = await openNotes(folder)

const { tools, runCalls, suspended, answer } = responseTools(cordon, { onAsk: 'suspend' })
let input = [{ role: 'user', content: 'Tidy up the notes.' }]
if (what === 'resume') {
  const kept = JSON.parse(readFileSync(stateFile, 'utf8'))
  for (const call of kept.suspended) await answer(call, { kind: 'approve_once', by: 'ann' })
  input = await runCalls(kept.input)
}
while (suspended().length === 0) {
  const { output } = await client.responses.create({ model: 'scripted', input, tools })
  input = await runCalls([...input, ...output])
  if (output.every(({ type }) => type !== 'function_call')) break
}
if (what === 'start') writeFileSync(stateFile, JSON.stringify({ input, suspended: suspended() }))
await cordon.close()
provider.close()
console.log(JSON.stringify(provider.heard))
