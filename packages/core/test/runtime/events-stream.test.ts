import { describe, expect, it } from 'vitest'

import { createEventStream } from '../../src/runtime/index.js'
import type { CordonEvent, EventDraft, EventStreamSettings } from '../../src/runtime/index.js'

const draft = (reason: string): EventDraft => ({ type: 'session.ended', call_id: null, reason, calls: 0 })

const streamOf = (settings: Partial<EventStreamSettings> = {}) => {
  let id = 0
  return createEventStream({
    sessionId: 'session',
    now: () => 1_700_000_000_000,
    newId: () => `id-${String((id += 1))}`,
    record: () => Promise.resolve(),
    ...settings,
  })
}

describe('an event stream', () => {
  it('adds id, time, number and session', async () => {
    const event = await streamOf({ context: { agent: 'a', model: 'm' } }).emit(draft('x'))
    expect(event).toEqual({
      type: 'session.ended',
      call_id: null,
      reason: 'x',
      calls: 0,
      event_id: 'id-1',
      timestamp: '2023-11-14T22:13:20.000Z',
      sequence: 1,
      session_id: 'session',
      context: { agent: 'a', model: 'm' },
    })
  })

  it('numbers events without gaps, in order, also if many are emitted at once', async () => {
    const stream = streamOf({
      record: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1))
      },
    })
    const first = Array.from({ length: 50 }, (_, index) => stream.emit(draft(String(index))))
    await new Promise((resolve) => setTimeout(resolve, 0))
    const events = await Promise.all([
      ...first,
      ...Array.from({ length: 50 }, (_, index) => stream.emit(draft(String(50 + index)))),
    ])
    expect(events.map((event) => event?.sequence)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
    expect(events.map((event) => event?.type === 'session.ended' && event.reason)).toEqual(
      Array.from({ length: 100 }, (_, index) => String(index)),
    )
  })

  it('records an event before listeners get it', async () => {
    const order: string[] = []
    const stream = streamOf({
      record: async (events) => {
        await Promise.resolve()
        order.push(`recorded ${String(events.length)}`)
      },
    })
    stream.on('*', ({ sequence }) => order.push(`heard ${String(sequence)}`))
    await Promise.all([stream.emit(draft('a')), stream.emit(draft('b'))])
    expect(order).toEqual(['recorded 2', 'heard 1', 'heard 2'])
  })

  it('makes no event that nobody records or hears, and hears again after a listener came', async () => {
    let ids = 0
    const stream = createEventStream({ sessionId: 'session', now: Date.now, newId: () => String((ids += 1)) })
    expect(await stream.emit(draft('a'))).toBeUndefined()
    const leave = stream.on('session.ended', () => undefined)
    expect((await stream.emit(draft('b')))?.sequence).toBe(1)
    leave()
    stream.on('session.ended', () => undefined)
    leave()
    expect(await stream.emit(draft('c'))).toBeDefined()
    expect(ids).toBe(2)
  })

  it('rejects an event that cannot be recorded, tells no listener, and leaves no gap', async () => {
    let isFull = true
    const heard: CordonEvent[] = []
    const stream = streamOf({ record: () => (isFull ? Promise.reject(new Error('disk full')) : Promise.resolve()) })
    stream.on('*', (event) => heard.push(event))
    const outcomes = await Promise.allSettled([stream.emit(draft('a')), stream.emit(draft('b'))])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isFull = false
    expect((await stream.emit(draft('c')))?.sequence).toBe(1)
    expect(heard).toHaveLength(1)
  })

  it('survives listeners that throw, reject, add others or leave', async () => {
    const errors: unknown[] = []
    const heard: string[] = []
    const stream = streamOf({
      onListenerError: (error) => {
        errors.push(error)
        throw new Error('this one, too')
      },
    })
    stream.on('*', () => {
      throw new Error('thrown')
    })
    stream.on('session.ended', () => Promise.reject(new Error('rejected')))
    const leave = stream.on('session.ended', ({ reason }) => {
      heard.push(reason)
      leave()
    })
    stream.on('session.ended', () => {
      stream.on('session.ended', ({ reason }) => heard.push(`added ${reason}`))
    })
    await stream.emit(draft('a'))
    await stream.emit(draft('b'))
    expect(heard).toEqual(['a', 'added b'])
    expect(errors).toHaveLength(4)
  })

  it('gives listeners of a type only that type', async () => {
    const stream = streamOf()
    const heard: string[] = []
    stream.on('hook.started', ({ hook }) => heard.push(hook))
    await stream.emit(draft('a'))
    await stream.emit({ type: 'hook.started', call_id: 'c', hook: 'h', point: 'stop', tool: null })
    expect(heard).toEqual(['h'])
  })

  it('freezes an emitted event, so that later changes to the draft do not matter', async () => {
    const mutable = { type: 'session.ended' as const, call_id: null, reason: 'before', calls: 0 }
    const stream = streamOf()
    const emitted = stream.emit(mutable)
    mutable.reason = 'after'
    const event = await emitted
    expect(event).toMatchObject({ reason: 'before' })
    expect(Object.isFrozen(event)).toBe(true)
  })

  it('removes possible secrets from every text', async () => {
    const event = await streamOf().emit(
      draft('denied: curl -H "Authorization: Bearer abcdef0123456789" https://me:hunter22@example.org'),
    )
    expect(event).toMatchObject({
      reason: 'denied: curl -H "Authorization: Bearer [redacted]" https://me:[redacted]@example.org',
    })
  })
})
