// An agent with Strands, whose model is scripted. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Agent, FunctionTool, Model } from '@strands-agents/sdk'

import { plainTools } from '../notes/plain-tools.mjs'
import { WANTED, openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')

/** What the model was told: results of tools, and the last message of the user. */
const toldIn = (messages) =>
  messages.flatMap(({ role, content }) =>
    role !== 'user'
      ? []
      : content.flatMap((block) => {
          if (block.type === 'toolResultBlock') return block.content.map(({ text }) => text)
          return what === 'resume' && block.type === 'textBlock' ? [block.text] : []
        }),
  )

let heard = []
class ScriptedModel extends Model {
  updateConfig() {}
  getConfig() {
    return { modelId: 'scripted' }
  }
  async *stream(messages) {
    heard = toldIn(messages)
    const next = what === 'start' ? WANTED[heard.length] : undefined
    yield { type: 'modelMessageStartEvent', role: 'assistant' }
    if (next === undefined) {
      yield { type: 'modelContentBlockStartEvent' }
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text: 'done' } }
    } else {
      const start = { type: 'toolUseStart', name: next.name, toolUseId: `call-${heard.length}` }
      yield { type: 'modelContentBlockStartEvent', start }
      const delta = { type: 'toolUseInputDelta', input: JSON.stringify(next.input) }
      yield { type: 'modelContentBlockDeltaEvent', delta }
    }
    yield { type: 'modelContentBlockStopEvent' }
    yield { type: 'modelMessageStopEvent', stopReason: next === undefined ? 'endTurn' : 'toolUse' }
  }
}

const cordon = await openNotes(folder)
const notes = plainTools(cordon)
const tools = notes.tools.map(
  ({ modelName: name, description, inputSchema }) =>
    new FunctionTool({ name, description, inputSchema, callback: (input) => notes.call(name, input) }),
)
const agent = new Agent({ model: new ScriptedModel(), tools, printer: false })
if (what === 'start') {
  await agent.invoke('Tidy up the notes.')
  writeFileSync(stateFile, JSON.stringify({ tickets: notes.tickets }))
} else {
  const { tickets } = JSON.parse(readFileSync(stateFile, 'utf8'))
  await agent.invoke(await notes.resume(tickets))
}
await cordon.close()
console.log(JSON.stringify(heard))
