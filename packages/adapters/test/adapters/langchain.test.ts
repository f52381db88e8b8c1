// Tools of a runtime in a real agent of LangChain, with its scripted model.
import { Command, MemorySaver } from '@langchain/langgraph'
import { FakeToolCallingModel, createAgent, tool } from 'langchain'
import type { BaseMessage, ToolMessage } from 'langchain'
import { describe, expect, test } from 'vitest'

import { langchainMiddleware, resumeWith } from '@cordon/adapters/langchain'
import type { AdapterOptions } from '@cordon/adapters/langchain'
import type { ApprovalAnswer } from 'cordon/gate'
import { createCordon, processTool } from 'cordon'
import type { Cordon } from 'cordon'
import { IN_MATRIX } from '../../../../test/turns.js'
import { FRUIT, openNotesStage, runExample } from './notes.js'

const openNotes = openNotesStage()

const YES = { kind: 'approve_once', by: 'ann' } as const
const NO = { kind: 'deny', by: 'ann', reason: 'not today' } as const

const config = { configurable: { thread_id: 'a' } }
const go = { messages: [{ role: 'user', content: 'go' }] }

type Wanted = readonly (readonly [name: string, args: Readonly<Record<string, unknown>>])[]

/** The model makes these calls in one reply, and then ends. */
const agentOf = (cordon: Cordon, wanted: Wanted, options: AdapterOptions = { onAsk: 'suspend' }) =>
  createAgent({
    model: new FakeToolCallingModel({
      toolCalls: [wanted.map(([name, args], at) => ({ name, args: { ...args }, id: `call-${String(at)}` })), []],
    }),
    tools: [tool(() => 'mine', { name: 'mine', description: 'another tool', schema: { type: 'object' } })],
    middleware: [langchainMiddleware(cordon, options)],
    checkpointer: new MemorySaver(),
  })

const toolMessages = ({ messages }: { readonly messages: readonly BaseMessage[] }): readonly ToolMessage[] =>
  messages.filter((each): each is ToolMessage => each.type === 'tool')

test('the example ends as its page says', IN_MATRIX, () => {
  expect(runExample('langchain')).toMatchObject({ status: 0 })
})

describe('a tool of the runtime', () => {
  test('gives the model its output, and the program the facts', async () => {
    const { cordon } = await openNotes()
    const [message] = toolMessages(await agentOf(cordon, [['read_note', FRUIT]]).invoke(go, config))
    expect(message).toMatchObject({ content: 'pear\n', status: 'success' })
    expect(message?.artifact).toMatchObject({ facts: { tool: 'read_note' } })
  })

  test('gives the model the reason of a refusal', async () => {
    const { cordon } = await openNotes()
    const agent = agentOf(cordon, [['read_note', { path: '/etc/shadow' }]])
    expect(toolMessages(await agent.invoke(go, config))).toMatchObject([
      { content: expect.stringMatching(/^Denied/) as string, status: 'error' },
    ])
  })

  test('streams what its program prints', async () => {
    const count = processTool({ name: 'count', command: () => ['sh', '-c', 'echo one; sleep 0.2; echo two'] })
    const { cordon } = await openNotes({ tools: [count], rules: [], mode: 'on_request' })
    const parts: unknown[] = []
    const agent = agentOf(cordon, [['count', {}]], {})
    for await (const part of await agent.stream(go, { ...config, streamMode: 'custom' })) parts.push(part)
    expect(parts[0]).toMatchObject({ id: 'call-0', tool: 'count', kind: 'output', text: 'one\n' })
  })

  test('leaves the tools of others to LangChain', async () => {
    const { cordon } = await openNotes()
    expect(toolMessages(await agentOf(cordon, [['mine', {}]]).invoke(go, config))).toMatchObject([{ content: 'mine' }])
  })
})

describe('a suspended call', () => {
  const answered = async (answer: ApprovalAnswer) => {
    const { cordon, hasNote } = await openNotes()
    const agent = agentOf(cordon, [['remove_note', FRUIT]])
    const { __interrupt__: interrupts = [] } = await agent.invoke(go, config)
    expect({ interrupts: interrupts.length, hasNote: hasNote() }).toEqual({ interrupts: 1, hasNote: true })
    const result = await agent.invoke(new Command({ resume: resumeWith(interrupts, () => answer) }), config)
    return { messages: toolMessages(result), hasNote }
  }

  test('goes on when a person approves it', async () => {
    const { messages, hasNote } = await answered(YES)
    expect(messages).toMatchObject([{ content: expect.stringContaining('removed') as string }])
    expect(hasNote()).toBe(false)
  })

  test('does not run when a person denies it, and the model reads that', async () => {
    const { messages, hasNote } = await answered(NO)
    expect(messages).toMatchObject([{ content: expect.stringContaining('not today') as string, status: 'error' }])
    expect(hasNote()).toBe(true)
  })

  test('runs nothing for an answer without a ticket, or with that of another call', async () => {
    const { cordon, hasNote } = await openNotes()
    const other = await agentOf(cordon, [['remove_note', { path: 'notes/other' }]]).invoke(go, config)
    const agent = agentOf(cordon, [['remove_note', FRUIT]])
    const { __interrupt__: [own] = [] } = await agent.invoke(go, config)
    const [foreign] = other.__interrupt__ ?? []
    const values = [true, { answer: YES }, { call: foreign?.value, answer: YES }]
    for (const value of values)
      await expect(agent.invoke(new Command({ resume: { [own?.id ?? '']: value } }), config)).rejects.toThrow()
    expect(hasNote()).toBe(true)
  })
})

test('a runtime that knows the types of its tools can be given to an adapter', async () => {
  const count = processTool({ name: 'count', command: ({ to }: { to: number }) => ['seq', String(to)] })
  const cordon = await createCordon({ tools: [count], workspace: import.meta.dirname })
  expect(langchainMiddleware(cordon).name).toBe('Cordon')
  await cordon.close()
})
