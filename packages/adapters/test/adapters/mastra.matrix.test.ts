// Tools of a runtime in a real agent of Mastra, with a scripted model. Mastra asks for Node 22, so the example runs
// with it.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { beforeEach, describe, expect, test } from 'vitest'

import { REPOSITORY } from '../../../../test/repository.js'
import { newerNode } from '../../../../scripts/tests/mcp-programs.mjs'
import { SDK_PACKAGES, sdkModules } from '../../../../scripts/tests/sdk-programs.mjs'
import { mastraTools, resumeWith } from '@cordon/adapters/mastra'
import type { AdapterOptions, SuspendedCall } from '@cordon/adapters/mastra'
import { processTool } from 'cordon'
import type { Cordon, ToolResult } from 'cordon'
import { needs } from '../../../../test/requirement.js'
import { FRUIT, openNotesStage, runExampleWith } from './notes.js'

const MODULES = sdkModules('mastra')
const YES = { kind: 'approve_once', by: 'ann' } as const

/** What the tests use of the SDK, which is not among the dependencies. */
interface Ran {
  readonly finishReason: string
  readonly runId: string
  readonly suspendPayload?: { readonly toolCallId: string; readonly suspendPayload: SuspendedCall }
}
interface Resume {
  readonly runId: string
  readonly toolCallId: string
}
interface MastraAgent {
  readonly generate: (prompt: string) => Promise<Ran>
  readonly stream: (prompt: string) => Promise<{ readonly fullStream: AsyncIterable<Chunk> }>
  readonly resumeGenerate: (answer: unknown, options: Resume) => Promise<Ran>
  readonly approveToolCallGenerate: (options: Resume) => Promise<Ran>
}
interface Chunk {
  readonly type: string
  readonly payload?: { readonly output?: unknown; readonly toolCallId?: string }
}
type Constructor<Made> = new (options: Readonly<Record<string, unknown>>) => Made

const openNotes = openNotesStage()

beforeEach((context) => {
  needs(context, MODULES !== undefined, `npm did not install ${SDK_PACKAGES.mastra}`)
})

const load = (name: string): Promise<unknown> =>
  import(/* @vite-ignore */ pathToFileURL(join(MODULES ?? '', '@mastra/core/dist', name)).href)

/** The model makes one call, and then ends. */
const agentOf = async (cordon: Cordon, name: string, input: unknown, options: AdapterOptions) => {
  const { Agent } = (await load('agent/index.js')) as { Agent: Constructor<unknown> }
  const { Mastra } = (await load('index.js')) as {
    Mastra: Constructor<{ readonly getAgent: (name: string) => MastraAgent }>
  }
  const { InMemoryStore } = (await load('storage/index.js')) as { InMemoryStore: new () => unknown }
  const example = pathToFileURL(join(REPOSITORY, 'examples/notes/scripted-model.mjs')).href
  const { scriptedModel } = (await import(/* @vite-ignore */ example)) as {
    scriptedModel: (wanted: unknown) => { readonly model: unknown; readonly heard: () => readonly string[] }
  }
  const { model, heard } = scriptedModel([{ name, input }])
  const notes = new Agent({
    id: 'notes',
    name: 'notes',
    instructions: 'Tidy up.',
    model,
    tools: mastraTools(cordon, options),
  })
  const mastra = new Mastra({ agents: { notes }, storage: new InMemoryStore(), logger: false })
  return { agent: mastra.getAgent('notes'), heard }
}

test('the example ends as its page says, with Node 22', (context) => {
  const node = newerNode()
  needs(context, node !== undefined, 'npm did not install a newer Node')
  expect(runExampleWith(MODULES ?? '', 'mastra', node)).toMatchObject({ status: 0 })
})

describe('a tool of the runtime', () => {
  const told = async (name: string, input: unknown, options: AdapterOptions = {}) => {
    const { cordon } = await openNotes()
    const { agent, heard } = await agentOf(cordon, name, input, options)
    await agent.generate('go')
    return heard()
  }

  test('gives the model its output, and the operator the facts', async () => {
    const results: ToolResult[] = []
    expect(await told('read_note', FRUIT, { onResult: (each) => results.push(each) })).toEqual(['pear\n'])
    expect(results.map(({ facts }) => facts.tool)).toEqual(['read_note'])
  })

  test('gives the model the reason of a refusal', async () => {
    expect(await told('read_note', { path: '/etc/shadow' })).toEqual([expect.stringMatching(/^Denied/)])
  })

  test('streams what its program prints', async () => {
    const count = processTool({ name: 'count', command: () => ['sh', '-c', 'echo one; sleep 0.2; echo two'] })
    const { cordon } = await openNotes({ tools: [count], rules: [], mode: 'on_request' })
    const { agent } = await agentOf(cordon, 'count', {}, {})
    const outputs: unknown[] = []
    for await (const { type, payload } of (await agent.stream('go')).fullStream)
      if (type === 'tool-output') outputs.push(payload?.output)
    expect(outputs[0]).toMatchObject({ kind: 'output', text: 'one\n' })
  })
})

describe('a suspended call', () => {
  const suspend = async () => {
    const notes = await openNotes()
    const { agent, heard } = await agentOf(notes.cordon, 'remove_note', FRUIT, { onAsk: 'suspend' })
    const { finishReason, runId, suspendPayload } = await agent.generate('go')
    expect({ finishReason, hasNote: notes.hasNote() }).toEqual({ finishReason: 'suspended', hasNote: true })
    if (suspendPayload === undefined) throw new Error('nothing was suspended')
    const { toolCallId, suspendPayload: call } = suspendPayload
    return { ...notes, agent, heard, call, at: { runId, toolCallId } }
  }

  test('goes on when a person approves it', async () => {
    const { agent, call, at, heard, hasNote } = await suspend()
    await agent.resumeGenerate(resumeWith(call, YES), at)
    expect(heard()).toEqual([expect.stringContaining('removed')])
    expect(hasNote()).toBe(false)
  })

  test('does not run when a person denies it, and the model reads that', async () => {
    const { agent, call, at, heard, hasNote } = await suspend()
    await agent.resumeGenerate(resumeWith(call, { kind: 'deny', by: 'ann', reason: 'not today' }), at)
    expect(heard()).toEqual([expect.stringContaining('not today')])
    expect(hasNote()).toBe(true)
  })

  test('runs nothing for a yes of Mastra, which has no ticket', async () => {
    const { agent, at, heard, hasNote } = await suspend()
    await agent.approveToolCallGenerate(at)
    expect(heard()).toHaveLength(1)
    expect(hasNote()).toBe(true)
  })

  test('runs nothing with the ticket of another call', async () => {
    const { agent, call, at, hasNote } = await suspend()
    await agent.resumeGenerate(resumeWith({ ...call, id: 'call-9' }, YES), at)
    expect(hasNote()).toBe(true)
  })
})
