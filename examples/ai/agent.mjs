// An agent with the AI SDK, whose model is scripted. check.mjs says how it is used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { aiTools } from '@cordon/adapters/ai'

import { WANTED, openNotes } from '../notes/runtime.mjs'

const [what, folder] = process.argv.slice(2)
const stateFile = join(folder, 'state.json')

const told = (prompt) =>
  prompt.flatMap(({ role, content }) => (role === 'tool' ? content.map(({ output }) => output.value) : []))
let heard = []
const model = new MockLanguageModelV4({
  doGenerate: ({ prompt }) => {
    heard = told(prompt)
    const next = WANTED[heard.length]
    const content =
      next === undefined
        ? { type: 'text', text: 'done' }
        : {
            type: 'tool-call',
            toolCallId: `call-${heard.length}`,
            toolName: next.name,
            input: JSON.stringify(next.input),
          }
    return {
      content: [content],
      finishReason: { unified: next === undefined ? 'stop' : 'tool-calls' },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    }
  },
})

const cordon = await openNotes(folder)
if (what === 'start') {
  const { tools, toolApproval, suspended } = aiTools(cordon, { onAsk: 'suspend' })
  const messages = [{ role: 'user', content: 'Tidy up the notes.' }]
  const result = await generateText({ model, tools, toolApproval, messages, stopWhen: isStepCount(5) })
  const approvals = result.content.filter(({ type }) => type === 'tool-approval-request')
  const state = { messages: [...messages, ...result.responseMessages], approvals, suspended: suspended() }
  writeFileSync(stateFile, JSON.stringify(state))
} else {
  const { messages, approvals, suspended } = JSON.parse(readFileSync(stateFile, 'utf8'))
  const { tools, toolApproval, answer } = aiTools(cordon, { onAsk: 'suspend' })
  for (const call of suspended) await answer(call, { kind: 'approve_once', by: 'ann' })
  messages.push({
    role: 'tool',
    content: approvals.map(({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved: true })),
  })
  await generateText({ model, tools, toolApproval, messages, stopWhen: isStepCount(5) })
}
await cordon.close()
console.log(JSON.stringify(heard))
