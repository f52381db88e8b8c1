// A tool of the AI SDK that runs commands in the sandbox that the SDK gives it.
import { generateText, isStepCount, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { aiSandbox } from '@cordon/adapters/ai-sandbox'
import { z } from 'zod'

import { COMMAND, checkSandbox } from '../notes/sandbox.mjs'

const bash = tool({
  description: 'Runs a command',
  inputSchema: z.object({ command: z.string() }),
  execute: ({ command }, { experimental_sandbox: sandbox }) => sandbox.run({ command }),
})

const model = new MockLanguageModelV4({
  doGenerate: ({ prompt }) => {
    const isFirst = prompt.every(({ role }) => role !== 'tool')
    const call = {
      type: 'tool-call',
      toolCallId: 'call-0',
      toolName: 'bash',
      input: JSON.stringify({ command: COMMAND }),
    }
    return {
      content: [isFirst ? call : { type: 'text', text: 'done' }],
      finishReason: { unified: isFirst ? 'tool-calls' : 'stop' },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    }
  },
})

await checkSandbox(async (options) => {
  const sandbox = await aiSandbox(options)
  const settings = { model, tools: { bash }, prompt: 'Sort the notes.', stopWhen: isStepCount(2) }
  const { steps } = await generateText({ ...settings, experimental_sandbox: sandbox })
  await sandbox.close()
  return JSON.stringify(steps[0].toolResults.map(({ output }) => output))
})
