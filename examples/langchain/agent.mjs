// An agent with LangChain, whose model is scripted. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Command, MemorySaver } from '@langchain/langgraph'
import { langchainMiddleware, resumeWith } from '@cordon/adapters/langchain'
import { FakeToolCallingModel, createAgent } from 'langchain'

import { WANTED, openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')

/** A checkpointer that a second process can read: as text, because a real one would be a database. */
const checkpointer = new MemorySaver()
const toText = (value) =>
  JSON.stringify(value, (_, each) =>
    each instanceof Uint8Array ? { bytes: Buffer.from(each).toString('base64') } : each,
  )
const ofText = (text) =>
  JSON.parse(text, (_, each) => (each?.bytes === undefined ? each : new Uint8Array(Buffer.from(each.bytes, 'base64'))))

const cordon = await openNotes(folder)
const wanted = WANTED.map(({ name, input }, at) => [{ name, args: input, id: `call-${at}` }])
const config = { configurable: { thread_id: 'notes' } }
const agentAfter = (replies) =>
  createAgent({
    model: new FakeToolCallingModel({ toolCalls: [...wanted, []], index: replies }),
    tools: [],
    middleware: [langchainMiddleware(cordon, { onAsk: 'suspend' })],
    checkpointer,
  })
let result
if (what === 'start') {
  result = await agentAfter(0).invoke({ messages: [{ role: 'user', content: 'Tidy up the notes.' }] }, config)
  const { storage, writes } = checkpointer
  writeFileSync(stateFile, JSON.stringify({ saved: toText({ storage, writes }), interrupts: result.__interrupt__ }))
} else {
  const { saved, interrupts } = JSON.parse(readFileSync(stateFile, 'utf8'))
  Object.assign(checkpointer, ofText(saved))
  const resume = resumeWith(interrupts, () => ({ kind: 'approve_once', by: 'ann' }))
  result = await agentAfter(WANTED.length).invoke(new Command({ resume }), config)
}
await cordon.close()
console.log(JSON.stringify(result.messages.filter(({ type }) => type === 'tool').map(({ content }) => content)))
