// An agent with Google ADK, whose model is scripted. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { BaseLlm, FunctionTool, InMemoryRunner, LlmAgent } from '@google/adk'

import { plainTools } from '../notes/plain-tools.mjs'
import { WANTED, openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')

/** What the model was told: results of tools, and the last message of the user. */
const toldIn = (contents) =>
  contents.flatMap(({ parts }) =>
    parts.flatMap(({ functionResponse, text }) => {
      if (functionResponse !== undefined) return [functionResponse.response.result]
      return what === 'resume' && text !== undefined ? [text] : []
    }),
  )

let heard = []
class ScriptedModel extends BaseLlm {
  constructor() {
    super({ model: 'scripted' })
  }
  async *generateContentAsync({ contents }) {
    heard = toldIn(contents)
    const next = what === 'start' ? WANTED[heard.length] : undefined
    const part =
      next === undefined
        ? { text: 'done' }
        : { functionCall: { id: `call-${heard.length}`, name: next.name, args: next.input } }
    yield { content: { role: 'model', parts: [part] }, turnComplete: true }
  }
}

const cordon = await openNotes(folder)
const notes = plainTools(cordon)
/** ADK takes types in capitals. The gate checks the input by the schema of the tool itself. */
const schemaOf = ({ properties = {}, required = [] }) => ({
  type: 'OBJECT',
  properties: Object.fromEntries(
    Object.entries(properties).map(([key, { type }]) => [key, { type: type.toUpperCase() }]),
  ),
  required,
})
const tools = notes.tools.map(
  ({ modelName: name, description, inputSchema }) =>
    new FunctionTool({
      name,
      description,
      parameters: schemaOf(inputSchema),
      execute: async (input) => ({ result: await notes.call(name, input) }),
    }),
)
const agent = new LlmAgent({ name: 'notes', model: new ScriptedModel(), tools })
const runner = new InMemoryRunner({ agent })
const say = async (text) => {
  const newMessage = { role: 'user', parts: [{ text }] }
  for await (const event of runner.runEphemeral({ userId: 'ann', newMessage })) void event
}
if (what === 'start') {
  await say('Tidy up the notes.')
  writeFileSync(stateFile, JSON.stringify({ tickets: notes.tickets }))
} else {
  const { tickets } = JSON.parse(readFileSync(stateFile, 'utf8'))
  await say(await notes.resume(tickets))
}
await cordon.close()
console.log(JSON.stringify(heard))
