// A process that runs its own calls, with a store whose answers get lost.
import { expect, test } from 'vitest'

import { fail } from '../../src/errors/errors.js'
import type { RegistryAccess, SeenCall } from '../../src/registry/registry-access.js'
import { openHost } from '../../src/registry/own-host.js'
import type { OwnHost } from '../../src/registry/own-host.js'

const NAME = 'laptop/0'
const away = () => Promise.reject(fail('store-unavailable', { where: 'the test', problem: 'its answer was lost' }))

/** One approved call. What is asked is carried out; `lose` says of which questions the answer does not arrive. */
const storeWith = (lose: (question: 'claim' | 'find' | 'complete', times: number) => boolean) => {
  let call = {
    id: 'one',
    tool: 'pay',
    input: {},
    status: 'approved',
    approvalDecidedBy: null,
    approvalReason: null,
    isCancelRequested: false,
    fence: '0',
    output: null,
    error: null,
    runner: null,
    usage: null,
  } as SeenCall
  const asked = { claim: 0, find: 0, complete: 0 }
  const answer = <Value>(question: keyof typeof asked, value: Value): Promise<Value> =>
    lose(question, ++asked[question]) ? away() : Promise.resolve(value)
  const store: Pick<RegistryAccess, 'runner' | 'heartbeat' | 'claim' | 'find' | 'complete' | 'wait'> = {
    runner: NAME,
    heartbeat: () => Promise.resolve(),
    claim: () => {
      if (call.status !== 'approved') return answer('claim', undefined)
      call = { ...call, status: 'running', runner: NAME, fence: '1' }
      return answer('claim', call)
    },
    find: () => answer('find', call),
    complete: (_, { status }) => {
      if (call.status !== 'running')
        return Promise.reject(fail('store-state', { problem: `it is ${call.status}`, hint: '' }))
      call = { ...call, status }
      return answer('complete', undefined)
    },
    wait: (_, __, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(new Error('over'))
        })
      }),
  }
  return { store: store as RegistryAccess, now: () => call, asked }
}

const withHost = async (store: RegistryAccess, work: (host: OwnHost) => Promise<void>): Promise<void> => {
  const host = await openHost(store, { heartbeatMs: 10_000, silentMs: 60_000 })
  try {
    await work(host)
  } finally {
    await host.close()
  }
}

test('a claim with a lost answer still counts, and the call runs', async () => {
  const { store, now } = storeWith((question, times) => question === 'claim' && times === 1)
  await withHost(store, async (host) => {
    const taken = await host.take('one', new AbortController())
    await taken?.complete({ status: 'completed' })
    expect(now()).toMatchObject({ status: 'completed', fence: '1' })
  })
})

test('a call that is claimed twice at once runs once, whatever the store answers to the pending claim', async () => {
  const { store, asked } = storeWith(() => false)
  await withHost(store, async (host) => {
    const taken = await Promise.all([host.take('one', new AbortController()), host.take('one', new AbortController())])
    expect(taken.filter((each) => each !== undefined)).toHaveLength(1)
    expect(asked.claim).toBe(1)
  })
})

test('a call of another runner is not claimed', async () => {
  const { store } = storeWith(() => false)
  await withHost(store, async (host) => {
    await store.claim('one')
    const other: RegistryAccess = { ...store, runner: 'laptop/1' }
    await withHost(other, async (second) => {
      expect(await second.take('one', new AbortController())).toBeUndefined()
    })
    expect(await host.take('one', new AbortController())).toBeDefined()
  })
})

test('a completion with a lost answer counts, and the caller gets the result', async () => {
  const { store, now, asked } = storeWith((question, times) => question === 'complete' && times === 1)
  await withHost(store, async (host) => {
    const taken = await host.take('one', new AbortController())
    await taken?.complete({ status: 'completed' })
    expect(now().status).toBe('completed')
    expect(asked.complete).toBe(1)
  })
})

test("a process that the store refuses from the start reports the store's reason", async () => {
  const { store } = storeWith(() => false)
  const refused: RegistryAccess = {
    ...store,
    heartbeat: () => Promise.reject(fail('store-state', { problem: 'laptop runs for no team', hint: '' })),
  }
  await expect(openHost(refused, { heartbeatMs: 10_000, silentMs: 60_000 })).rejects.toMatchObject({
    code: 'store-state',
  })
})
