// Tools of a runtime for OpenAI. The example uses the real packages with a provider on loopback.
import { Agent, RunContext, RunState, Runner } from '@openai/agents'
import type { AgentInputItem, Model, ModelResponse } from '@openai/agents'
import { Usage } from '@openai/agents'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { describe, expect, test } from 'vitest'

import { agentTools, chatTools, responseTools } from '@cordon/adapters/openai'
import type { AgentTools } from '@cordon/adapters/openai'
import { IN_MATRIX } from '../../../../test/turns.js'
import { FRUIT, openNotesStage, runExample } from './notes.js'

const openNotes = openNotesStage()

const YES = { kind: 'approve_once', by: 'ann' } as const
const NO = { kind: 'deny', by: 'ann', reason: 'not today' } as const

test('the example ends as its page says', IN_MATRIX, () => {
  expect(runExample('openai')).toMatchObject({ status: 0 })
})

const asking = (...wanted: readonly (readonly [name: string, text: string])[]): ChatCompletionMessageParam[] => [
  { role: 'user', content: 'go' },
  {
    role: 'assistant',
    tool_calls: wanted.map(([name, text], at) => ({
      id: `call-${String(at)}`,
      type: 'function',
      function: { name, arguments: text },
    })),
  },
]

describe('a conversation of chat completions', () => {
  test('gets the results of its calls, and keeps those that it has', async () => {
    const { cordon } = await openNotes()
    const { runCalls } = chatTools(cordon)
    const asked = asking(['read_note', JSON.stringify(FRUIT)], ['read_note', '{"path":"/etc/shadow"}'])
    const [, , first, second] = await runCalls(asked)
    expect(first).toEqual({ role: 'tool', tool_call_id: 'call-0', content: 'pear\n' })
    expect(second).toMatchObject({ tool_call_id: 'call-1', content: expect.stringMatching(/^Denied/) as string })
    const had = [...asked, { role: 'tool', tool_call_id: 'call-0', content: 'had' } as const]
    expect(await runCalls(had)).toEqual([...had, second])
  })

  test('is refused a call whose arguments are not JSON', async () => {
    const { cordon } = await openNotes()
    const messages = await chatTools(cordon).runCalls(asking(['read_note', '{"path":']))
    expect(messages.at(-1)).toMatchObject({ content: expect.stringMatching(/^Denied/) as string })
  })

  test('gets no result of a suspended call, and the results of the others once', async () => {
    const { cordon, hasNote } = await openNotes()
    const first = chatTools(cordon, { onAsk: 'suspend' })
    const asked = asking(['remove_note', JSON.stringify(FRUIT)], ['read_note', JSON.stringify(FRUIT)])
    const kept = await first.runCalls(asked)
    expect(kept.slice(2)).toMatchObject([{ tool_call_id: 'call-1', content: 'pear\n' }])
    const [call] = first.suspended()
    if (call === undefined) throw new Error('nothing was suspended')
    const second = chatTools(cordon, { onAsk: 'suspend' })
    await second.answer(call, YES)
    const ended = await second.runCalls(kept)
    expect(ended.slice(3)).toMatchObject([
      { tool_call_id: 'call-0', content: expect.stringContaining('removed') as string },
    ])
    expect(hasNote()).toBe(false)
  })

  test('runs nothing after a person denied the call', async () => {
    const { cordon, hasNote } = await openNotes()
    const adapter = chatTools(cordon, { onAsk: 'suspend' })
    const kept = await adapter.runCalls(asking(['remove_note', JSON.stringify(FRUIT)]))
    const [call] = adapter.suspended()
    if (call === undefined) throw new Error('nothing was suspended')
    await adapter.answer(call, NO)
    await adapter.answer(call, YES)
    expect((await adapter.runCalls(kept)).at(-1)).toMatchObject({
      content: expect.stringContaining('cannot go on') as string,
    })
    expect(hasNote()).toBe(true)
  })
})

test('a conversation of the responses API gets the results of its calls', async () => {
  const { cordon } = await openNotes()
  const { runCalls } = responseTools(cordon)
  const call = { type: 'function_call', call_id: 'a', name: 'read_note', arguments: JSON.stringify(FRUIT) } as const
  expect(await runCalls([call])).toEqual([call, { type: 'function_call_output', call_id: 'a', output: 'pear\n' }])
})

/** Wants to remove the note, and ends when it reads the result. */
class ScriptedModel implements Model {
  told: AgentInputItem[] = []
  getResponse({ input }: { input: string | AgentInputItem[] }): Promise<ModelResponse> {
    this.told = typeof input === 'string' ? [] : input.filter((each) => each.type === 'function_call_result')
    const call = { type: 'function_call', callId: 'a', name: 'remove_note', arguments: JSON.stringify(FRUIT) } as const
    const end = { type: 'message', role: 'assistant', status: 'completed', content: [] } as const
    const text = { type: 'output_text', text: 'done' } as const
    return Promise.resolve({
      usage: new Usage(),
      output: [this.told.length === 0 ? { ...call, status: 'completed' } : { ...end, content: [text] }],
    })
  }
  getStreamedResponse(): never {
    throw new Error('this model does not stream')
  }
}

describe('an agent of the Agents SDK', () => {
  const model = new ScriptedModel()
  const runner = new Runner({ tracingDisabled: true })
  const agentWith = ({ tools }: AgentTools) => new Agent({ name: 'notes', model, tools })

  const suspended = async () => {
    const notes = await openNotes()
    const adapter = agentTools(notes.cordon, { onAsk: 'suspend' })
    const { state, interruptions } = await runner.run(agentWith(adapter), 'go')
    const [call] = adapter.suspended()
    if (call === undefined) throw new Error('nothing was suspended')
    return { ...notes, adapter, call, text: state.toString(), interruptions }
  }
  const goOn = async (adapter: AgentTools, text: string) => {
    const agent = agentWith(adapter)
    const state = await RunState.fromString(agent, text)
    for (const each of state.getInterruptions()) state.approve(each)
    await runner.run(agent, state)
    return JSON.stringify(model.told)
  }

  test('stops for a person, and goes on with the answer', async () => {
    const { cordon, call, text, interruptions, hasNote } = await suspended()
    expect(interruptions).toHaveLength(1)
    const adapter = agentTools(cordon, { onAsk: 'suspend' })
    await adapter.answer(call, YES)
    expect(await goOn(adapter, text)).toContain('removed')
    expect(hasNote()).toBe(false)
  })

  test('runs nothing if only its state says that somebody approved', async () => {
    const { cordon, text, hasNote } = await suspended()
    expect(await goOn(agentTools(cordon, { onAsk: 'suspend' }), text)).not.toContain('removed')
    expect(hasNote()).toBe(true)
  })

  test('asks nobody about a call that may run', async () => {
    const { cordon } = await openNotes()
    const read = agentTools(cordon, { onAsk: 'suspend' }).tools.find(({ name }) => name === 'read_note')
    expect(await read?.needsApproval(new RunContext(), JSON.stringify(FRUIT), 'a')).toBe(false)
    expect(await read?.invoke(new RunContext(), JSON.stringify(FRUIT))).toBe('pear\n')
  })
})
