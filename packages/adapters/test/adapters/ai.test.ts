// Tools of a runtime in the real AI SDK, with its scripted model.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { generateText, isStepCount, streamText } from 'ai'
import type { ModelMessage } from 'ai'
import { MockLanguageModelV4, convertArrayToReadableStream } from 'ai/test'
import { describe, expect, onTestFinished, test } from 'vitest'

import { aiTools } from '@cordon/adapters/ai'
import type { AiTools, SuspendedCall } from '@cordon/adapters/ai'
import { processTool } from 'cordon'
import type { ToolResult } from 'cordon'
import { linkPackages } from '../../../../test/repository.js'
import { IN_MATRIX } from '../../../../test/turns.js'
import { FRUIT, openNotesStage, runExample } from './notes.js'

const openNotes = openNotesStage()

const YES = { kind: 'approve_once', by: 'ann' } as const
const CALL_ID = 'call-1'
const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const callOf = (toolName: string, input: unknown) =>
  ({ type: 'tool-call', toolCallId: CALL_ID, toolName, input: JSON.stringify(input) }) as const

/** Calls the tool once, then ends. */
const modelThatCalls = (toolName: string, input: unknown) =>
  new MockLanguageModelV4({
    doGenerate: ({ prompt }) => {
      const isOver = prompt.some(({ role }) => role === 'tool')
      return Promise.resolve({
        content: [isOver ? { type: 'text', text: 'done' } : callOf(toolName, input)],
        finishReason: { unified: isOver ? 'stop' : 'tool-calls', raw: undefined },
        usage: USAGE,
        warnings: [],
      })
    },
  })

const ask = { role: 'user', content: 'go' } as const

const run = async (
  { tools, toolApproval }: AiTools,
  toolName: string,
  input: unknown,
  messages: ModelMessage[] = [ask],
) => {
  const model = modelThatCalls(toolName, input)
  const result = await generateText({ model, tools, toolApproval, messages, stopWhen: isStepCount(3) })
  const prompt = model.doGenerateCalls.at(-1)?.prompt ?? []
  const told = prompt.flatMap((message) =>
    message.role === 'tool' ? message.content.flatMap((part) => ('output' in part ? [part.output] : [])) : [],
  )
  return { result, told }
}

/** The conversation of a suspended call, with a person's yes. */
const answered = (call: SuspendedCall, input: unknown = call.input): ModelMessage[] => [
  ask,
  {
    role: 'assistant',
    content: [
      { type: 'tool-call', toolCallId: call.id, toolName: call.tool, input },
      { type: 'tool-approval-request', approvalId: 'approval-1', toolCallId: call.id },
    ],
  },
  { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'approval-1', approved: true }] },
]

const suspend = async () => {
  const notes = await openNotes()
  const adapter = aiTools(notes.cordon, { onAsk: 'suspend' })
  const { result } = await run(adapter, 'remove_note', FRUIT)
  const [call] = adapter.suspended()
  if (call === undefined) throw new Error('nothing was suspended')
  return { ...notes, call, result }
}

test('the example ends as its page says', IN_MATRIX, () => {
  expect(runExample('ai')).toMatchObject({ status: 0 })
})

describe('a tool of the runtime', () => {
  test('gives the model its output, and the operator the facts', async () => {
    const { cordon } = await openNotes()
    const results: ToolResult[] = []
    const adapter = aiTools(cordon, { onResult: (each) => results.push(each) })
    const { told, result } = await run(adapter, 'read_note', FRUIT)
    expect(told).toEqual([{ type: 'text', value: 'pear\n' }])
    expect(results.map(({ facts }) => facts.tool)).toEqual(['read_note'])
    expect(JSON.stringify(result.steps)).not.toContain('permission_decision')
  })

  test('gives the model the reason of a refusal', async () => {
    const { cordon } = await openNotes()
    const { told } = await run(aiTools(cordon), 'read_note', { path: '/etc/shadow' })
    expect(told).toEqual([{ type: 'error-text', value: expect.stringMatching(/^Denied/) as string }])
  })

  test('refuses an input that its schema does not allow, and records that', async () => {
    const { cordon } = await openNotes()
    const results: ToolResult[] = []
    const { told } = await run(aiTools(cordon, { onResult: (each) => results.push(each) }), 'read_note', { path: 1 })
    expect(told).toMatchObject([{ type: 'error-text' }])
    expect(results.map(({ status }) => status)).toEqual(['denied'])
  })

  test('streams what its program prints', async () => {
    const count = processTool({ name: 'count', command: () => ['sh', '-c', 'echo one; sleep 0.2; echo two'] })
    const { cordon } = await openNotes({ tools: [count], rules: [], mode: 'on_request' })
    const { tools } = aiTools(cordon)
    const model = new MockLanguageModelV4({
      doStream: () =>
        Promise.resolve({
          stream: convertArrayToReadableStream([
            callOf('count', {}),
            { type: 'finish' as const, finishReason: { unified: 'tool-calls' as const, raw: undefined }, usage: USAGE },
          ]),
        }),
    })
    const outputs: unknown[] = []
    for await (const part of streamText({ model, tools, messages: [ask] }).stream)
      if (part.type === 'tool-result') outputs.push(part.output)
    expect(outputs[0]).toEqual({ status: 'running', text: 'one\n' })
    expect(outputs.at(-1)).toMatchObject({ status: 'ok', text: 'one\ntwo\n' })
  })

  test('waits for the approver of the runtime if calls are not suspended', async () => {
    const { cordon, hasNote } = await openNotes({ approve: () => Promise.resolve({ kind: 'approve_once', by: 'ann' }) })
    const { told } = await run(aiTools(cordon), 'remove_note', FRUIT)
    expect(told).toEqual([{ type: 'text', value: expect.stringContaining('removed') as string }])
    expect(hasNote()).toBe(false)
  })
})

describe('a suspended call', () => {
  test('ends the run with a question for a person', async () => {
    const { result, hasNote } = await suspend()
    expect(result.content).toContainEqual(
      expect.objectContaining({ type: 'tool-approval-request', reason: expect.stringContaining('versions') as string }),
    )
    expect(hasNote()).toBe(true)
  })

  test('goes on when a person approves it', async () => {
    const { cordon, call, hasNote } = await suspend()
    const adapter = aiTools(cordon, { onAsk: 'suspend' })
    await adapter.answer(call, YES)
    const { told } = await run(adapter, call.tool, call.input, answered(call))
    expect(told).toEqual([{ type: 'text', value: expect.stringContaining('removed') as string }])
    expect(hasNote()).toBe(false)
    expect(adapter.suspended()).toEqual([])
  })

  test('runs nothing if only the conversation says that somebody approved it', async () => {
    const { cordon, call, hasNote } = await suspend()
    const adapter = aiTools(cordon, { onAsk: 'suspend' })
    const { told } = await run(adapter, call.tool, call.input, answered(call))
    expect(told).toEqual([{ type: 'error-text', value: expect.stringContaining('cannot go on') as string }])
    expect(hasNote()).toBe(true)
  })

  test('runs nothing if its caller approves it', async () => {
    const { cordon, call, hasNote } = await suspend()
    const adapter = aiTools(cordon, { onAsk: 'suspend' })
    await adapter.answer(call, { kind: 'approve_once', by: 'agent' })
    const { told } = await run(adapter, call.tool, call.input, answered(call))
    expect(told).toMatchObject([{ type: 'error-text', value: expect.stringContaining('was not accepted') as string }])
    expect(hasNote()).toBe(true)
  })

  test('runs nothing if the conversation has another input by now', async () => {
    const { cordon, call, hasNote } = await suspend()
    const adapter = aiTools(cordon, { onAsk: 'suspend' })
    await adapter.answer(call, YES)
    const { told } = await run(adapter, call.tool, call.input, answered(call, { path: 'notes/other' }))
    expect(told).toMatchObject([{ type: 'error-text' }])
    expect(hasNote()).toBe(true)
  })

  test('never runs after a person denied it', async () => {
    const { cordon, call, hasNote } = await suspend()
    await aiTools(cordon).answer(call, { kind: 'deny', by: 'ann', reason: 'not today' })
    const adapter = aiTools(cordon, { onAsk: 'suspend' })
    await adapter.answer(call, YES)
    const { told } = await run(adapter, call.tool, call.input, answered(call))
    expect(told).toMatchObject([{ type: 'error-text' }])
    expect(hasNote()).toBe(true)
  })
})

/** A model that calls `add`, then says what it got. */
const SCRIPTED = `
const { MockLanguageModelV4 } = await import('ai/test')
const model = new MockLanguageModelV4({
  doGenerate: ({ prompt }) => {
    const told = prompt.find(({ role }) => role === 'tool')
    return {
      content: [
        told === undefined
          ? { type: 'tool-call', toolCallId: '1', toolName: 'add', input: '{"a":2,"b":3}' }
          : { type: 'text', text: JSON.stringify(told.content[0].output.value) },
      ],
      finishReason: { unified: told === undefined ? 'tool-calls' : 'stop' },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    }
  },
})`

test('the program of README.md calls a tool of the runtime, as printed but for the model', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-ai-')))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  linkPackages(folder, 'cordon', '@cordon/adapters', 'ai')
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const program = /```js\n([^]*?)```/.exec(readme)?.[1] ?? ''
  writeFileSync(join(folder, 'agent.mjs'), program.replace(/^const model = .*$/m, SCRIPTED))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['agent.mjs'], { cwd: folder, encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '"5"\n', stderr: '' })
})
