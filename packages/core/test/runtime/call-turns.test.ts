// Calls that need a cell take turns. What waits for somebody else keeps no other call from running.
import { describe, expect, test } from 'vitest'

import { processTool, tool } from '../../src/runtime/index.js'
import type { Cordon, CordonEvent, ToolResult } from '../../src/runtime/index.js'

import { eventsOf, openStage } from './stage.js'

const stage = openStage()

const wait = processTool({ name: 'wait', command: ({ seconds }: { seconds: string }) => ['sleep', seconds] })
const YES = { kind: 'approve_once', by: 'ann' } as const

/** The most calls that had a process at the same time, by the order of events. */
const mostAtOnce = (events: readonly CordonEvent[]): number => {
  let [now, most] = [0, 0]
  for (const { type } of events) {
    if (type === 'process.started') now += 1
    if (type === 'process.completed' || type === 'process.terminated') now -= 1
    most = Math.max(most, now)
  }
  return most
}

const startsOf = (events: readonly CordonEvent[]): readonly (string | null)[] =>
  events.flatMap((event) => (event.type === 'process.started' ? [event.call_id] : []))

const started = (cordon: Cordon): Promise<void> =>
  new Promise((resolve) => {
    cordon.on('process.started', () => {
      resolve()
    })
  })

describe('calls that need a cell', () => {
  test('all run in a burst, no more of them at once than `concurrency`', async () => {
    const cordon = await stage.cordon({ tools: [wait], concurrency: 4 })
    const events = eventsOf(cordon)
    const all = await Promise.all(Array.from({ length: 120 }, () => cordon.call('wait', { seconds: '0' })))
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 120 }, () => 'ok'))
    expect(mostAtOnce(events)).toBeGreaterThan(1)
    expect(mostAtOnce(events)).toBeLessThanOrEqual(4)
  })

  test('begin in the order in which they came', async () => {
    const cordon = await stage.cordon({ tools: [wait], concurrency: 1 })
    const events = eventsOf(cordon)
    const all = await Promise.all(Array.from({ length: 6 }, () => cordon.call('wait', { seconds: '0' })))
    expect(startsOf(events)).toEqual(all.map(({ facts }) => facts.call_id))
  })

  test('can be cancelled while they wait, and the next one runs', async () => {
    const cordon = await stage.cordon({ tools: [wait], concurrency: 1 })
    const events = eventsOf(cordon)
    const [first, second] = [new AbortController(), new AbortController()]
    const running = cordon.call('wait', { seconds: '600' }, { signal: first.signal })
    await started(cordon)
    const waiting = cordon.call('wait', { seconds: '0' }, { signal: second.signal })
    const last = cordon.call('wait', { seconds: '0' })
    second.abort()
    const cancelled = await waiting
    expect(cancelled.status).toBe('cancelled')
    first.abort()
    expect([(await running).status, (await last).status]).toEqual(['cancelled', 'ok'])
    expect(startsOf(events)).not.toContain(cancelled.facts.call_id)
  })

  test('end when the runtime closes, also those that wait', async () => {
    const cordon = await stage.cordon({ tools: [wait], concurrency: 1 })
    const running = cordon.call('wait', { seconds: '600' })
    await started(cordon)
    const waiting = cordon.call('wait', { seconds: '600' })
    await cordon.close()
    expect([(await running).status, (await waiting).status]).toEqual(['cancelled', 'cancelled'])
  })
})

describe('with one turn', () => {
  test('a call runs while another one waits for a person', async () => {
    let answer = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    const free = processTool({ name: 'free', command: () => ['true'] })
    const cordon = await stage.cordon({
      tools: [wait, free],
      concurrency: 1,
      mode: 'default',
      rules: [[{ effect: 'ask', tool: 'wait', because: 'look' }]],
      approve: async () => {
        await asked
        return YES
      },
    })
    const pending = cordon.call('wait', { seconds: '0' })
    expect((await cordon.call('free')).status).toBe('ok')
    answer()
    expect((await pending).status).toBe('ok')
  })

  test.each(['a hook', 'a function of this process'])('%s can call a tool', async (who) => {
    const inner: ToolResult[] = []
    const callInner = async (): Promise<void> => {
      inner.push(await cordon.call('free'))
    }
    const free = processTool({ name: 'free', command: () => ['true'] })
    const here = tool({ name: 'here', inProcess: true, policy: { risk: 'low' }, run: callInner })
    const cordon: Cordon = await stage.cordon({
      tools: [wait, free, here],
      concurrency: 1,
      hooks: [
        {
          name: 'asks',
          points: ['pre_tool_use'],
          run: async ({ tool: name }) => {
            if (who === 'a hook' && name === 'wait') await callInner()
          },
        },
      ],
    })
    const outer = await Promise.all([cordon.call('wait', { seconds: '0' }), cordon.call('here')])
    expect(outer.map(({ status }) => status)).toEqual(['ok', 'ok'])
    expect(inner.map(({ status }) => status)).toContain('ok')
  })

  test('a limit that lets nothing run is refused', async () => {
    for (const concurrency of [0, -1, 1.5])
      await expect(stage.cordon({ tools: [wait], concurrency })).rejects.toMatchObject({ code: 'option-invalid' })
  })
})
