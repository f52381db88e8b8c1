// An agent of OpenAI whose shell runs in a sandbox of Cordon.
import { OpenAIProvider, Runner } from '@openai/agents'
import { SandboxAgent, shell } from '@openai/agents/sandbox'
import { openaiSandbox } from '@cordon/adapters/openai-sandbox'
import OpenAI from 'openai'

import { startProvider } from '../notes/provider.mjs'
import { COMMAND, checkSandbox } from '../notes/sandbox.mjs'

await checkSandbox(async (options) => {
  const provider = await startProvider([{ name: 'exec_command', input: { cmd: COMMAND } }])
  const openAIClient = new OpenAI({ baseURL: provider.url, apiKey: 'none' })
  const modelProvider = new OpenAIProvider({ openAIClient, useResponses: true })
  const runner = new Runner({ modelProvider, tracingDisabled: true })
  const agent = new SandboxAgent({ name: 'notes', model: 'scripted', capabilities: [shell()] })
  await runner.run(agent, 'Sort the notes.', { sandbox: { client: openaiSandbox(options) } })
  provider.close()
  return provider.heard.join()
})
