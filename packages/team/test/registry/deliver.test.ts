// A result is delivered to the registry over a connection that loses or refuses some messages.
import { expect, test } from 'vitest'

import { fail } from '../../src/errors/errors.js'
import { deliverCompletion } from '../../src/registry/index.js'
import type { SeenCall } from '../../src/registry/registry-access.js'
import type { Completion } from '../../src/store/index.js'

const CLAIMED = { id: 'call', status: 'running', fence: '1', runner: 'host/1' } as unknown as SeenCall
const LARGE: Completion = { status: 'completed', output: 'x'.repeat(100_000) }
const SMALL: Completion = { status: 'completed', output: 'x' }
const lost = () => fail('server-unavailable', { where: 'http://127.0.0.1:1', problem: 'socket hang up' })

/** A registry that takes only what is small; `failing` times nothing is answered. */
const registryBehind = (limit: number, failing = 0) => {
  const taken: Completion[] = []
  let tries = 0
  let left = failing
  return {
    taken,
    tries: () => tries,
    store: {
      complete: (_: SeenCall, completion: Completion): Promise<void> => {
        tries += 1
        if (left > 0 || JSON.stringify(completion).length > limit) return Promise.reject(lost())
        taken.push(completion)
        return Promise.resolve()
      },
      find: (): Promise<SeenCall> => {
        left -= 1
        return left >= 0 ? Promise.reject(lost()) : Promise.resolve(CLAIMED)
      },
    },
  }
}

const never = new AbortController().signal

test(
  'a large result that is cut off each time, while the registry answers, is not kept: the call is failed, and ' +
    'says why',
  async () => {
    const { store, taken, tries } = registryBehind(50_000)
    await expect(deliverCompletion(store, CLAIMED, LARGE, never, { tries: 5, forMs: 0 })).rejects.toMatchObject({
      code: 'result-not-kept',
    })
    expect(taken).toMatchObject([
      { status: 'failed', error: expect.stringMatching(/^result-not-kept: .*socket hang up/) as string },
    ])
    expect(tries()).toBeGreaterThan(3)
  },
)

test('a result is delivered after a short interruption, such as a restart of the server', async () => {
  const { store, taken, tries } = registryBehind(50_000)
  const delivered = deliverCompletion(
    {
      ...store,
      complete: (claimed, completion) =>
        tries() < 6 ? store.complete(claimed, completion) : store.complete(claimed, SMALL),
    },
    CLAIMED,
    LARGE,
    never,
  )
  await delivered
  expect(taken).toEqual([SMALL])
})

test('a result is retried while nothing answers', async () => {
  const { store, taken } = registryBehind(1_000_000, 4)
  await deliverCompletion(store, CLAIMED, LARGE, never)
  expect(taken).toEqual([LARGE])
})

test('a small result is never called too large, and is retried up to the limit', async () => {
  const { store, taken, tries } = registryBehind(0)
  const enough = new AbortController()
  const delivered = deliverCompletion(store, CLAIMED, SMALL, enough.signal)
  const refused = expect(delivered).rejects.toMatchObject({ code: 'server-unavailable' })
  await expect.poll(tries).toBeGreaterThan(5)
  enough.abort()
  await refused
  expect(taken).toEqual([])
})
