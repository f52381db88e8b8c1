// An agent with Mastra, whose model is scripted. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { mastraTools, resumeWith } from '@cordon/adapters/mastra'

import { WANTED, openNotes } from '../notes/runtime.mjs'
import { scriptedModel } from '../notes/scripted-model.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')

/** A storage that a second process can read: as text, because a real one would be a database. */
const storage = new InMemoryStore()
const workflows = await storage.getStore('workflows')

const { model, heard } = scriptedModel(WANTED)
const cordon = await openNotes(folder)
const tools = mastraTools(cordon, { onAsk: 'suspend' })
const notes = new Agent({ id: 'notes', name: 'notes', instructions: 'Tidy up.', model, tools })
const agent = new Mastra({ agents: { notes }, storage, logger: false }).getAgent('notes')

if (what === 'start') {
  const { runId, suspendPayload } = await agent.generate('Tidy up the notes.')
  const { runs } = await workflows.listWorkflowRuns()
  writeFileSync(stateFile, JSON.stringify({ runId, call: suspendPayload.suspendPayload, runs }))
} else {
  const { runId, call, runs } = JSON.parse(readFileSync(stateFile, 'utf8'))
  for (const { workflowName, runId, snapshot } of runs)
    await workflows.persistWorkflowSnapshot({ workflowName, runId, snapshot })
  const answer = resumeWith(call, { kind: 'approve_once', by: 'ann' })
  await agent.resumeGenerate(answer, { runId, toolCallId: call.id })
}
await cordon.close()
console.log(JSON.stringify(heard()))
