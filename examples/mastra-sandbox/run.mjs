// An agent of Mastra whose workspace runs commands in a sandbox of Cordon.
import { Agent } from '@mastra/core/agent'
import { Workspace } from '@mastra/core/workspace'
import { mastraSandbox } from '@cordon/adapters/mastra-sandbox'

import { COMMAND, checkSandbox } from '../notes/sandbox.mjs'
import { scriptedModel } from '../notes/scripted-model.mjs'

await checkSandbox(async (options) => {
  const sandbox = await mastraSandbox(options)
  const { model, heard } = scriptedModel([{ name: 'mastra_workspace_execute_command', input: { command: COMMAND } }])
  const workspace = new Workspace({ sandbox })
  const agent = new Agent({ id: 'notes', name: 'notes', instructions: 'Sort.', model, workspace })
  await agent.generate('Sort the notes.')
  await sandbox.destroy()
  return heard().join()
})
