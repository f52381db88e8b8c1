// Tools of a runtime for the SDK of Anthropic. The example uses the real package with a provider on loopback.
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { expect, test } from 'vitest'

import { anthropicTools } from '@cordon/adapters/anthropic'
import { FRUIT, openNotesStage, runExample } from './notes.js'

const openNotes = openNotesStage()

const YES = { kind: 'approve_once', by: 'ann' } as const

const asking = (...wanted: readonly (readonly [name: string, input: unknown])[]): MessageParam[] => [
  { role: 'user', content: 'go' },
  {
    role: 'assistant',
    content: wanted.map(([name, input], at) => ({ type: 'tool_use', id: `call-${String(at)}`, name, input })),
  },
]

test('the example ends as its page says', () => {
  expect(runExample('anthropic')).toMatchObject({ status: 0 })
})

test('a refusal is a result that is marked as an error, and a success is not', async () => {
  const { cordon } = await openNotes()
  const messages = await anthropicTools(cordon).runCalls(
    asking(['read_note', FRUIT], ['read_note', { path: '/etc/shadow' }]),
  )
  expect(messages.at(-1)).toEqual({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'call-0', content: 'pear\n' },
      {
        type: 'tool_result',
        tool_use_id: 'call-1',
        is_error: true,
        content: expect.stringMatching(/^Denied/) as string,
      },
    ],
  })
})

test('all results of a reply are in one message, also if one of its calls was suspended', async () => {
  const { cordon, hasNote } = await openNotes()
  const first = anthropicTools(cordon, { onAsk: 'suspend' })
  const kept = await first.runCalls(asking(['remove_note', FRUIT], ['read_note', FRUIT]))
  const [call] = first.suspended()
  if (call === undefined) throw new Error('nothing was suspended')
  expect(kept).toHaveLength(3)
  const second = anthropicTools(cordon, { onAsk: 'suspend' })
  await second.answer(call, YES)
  const ended = await second.runCalls(kept)
  expect(ended).toHaveLength(3)
  expect(ended.at(-1)?.content).toMatchObject([
    { tool_use_id: 'call-0', content: expect.stringContaining('removed') as string },
    { tool_use_id: 'call-1', content: 'pear\n' },
  ])
  expect(hasNote()).toBe(false)
})

test('an answer for one call runs no other', async () => {
  const { cordon, hasNote } = await openNotes()
  const first = anthropicTools(cordon, { onAsk: 'suspend' })
  await first.runCalls(asking(['remove_note', { path: 'notes/other' }]))
  const [call] = first.suspended()
  if (call === undefined) throw new Error('nothing was suspended')
  const second = anthropicTools(cordon, { onAsk: 'suspend' })
  await second.answer(call, YES)
  const ended = await second.runCalls(asking(['remove_note', FRUIT]))
  expect(ended.at(-1)?.content).toMatchObject([{ is_error: true }])
  expect(hasNote()).toBe(true)
})
