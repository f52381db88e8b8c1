// A pool in situations that a real launcher cannot be made to show, such as cells that fail to start.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createPool, keepLatest } from '../../src/sandbox/launch/pool.js'
import type { ReadyCell } from '../../src/sandbox/launch/pool.js'
import type { Pool } from '../../src/sandbox/index.js'

interface FakeCell {
  readonly number: number
  alive: boolean
  discarded: boolean
}

const startPool = (prepare: (make: () => ReadyCell) => Promise<ReadyCell>, kept = keepLatest(4)) => {
  const made: FakeCell[] = []
  const served: (number | undefined)[] = []
  let closes = 0
  const make = (): ReadyCell => {
    const fake: FakeCell = { number: made.length, alive: true, discarded: false }
    made.push(fake)
    const cell = {
      isAlive: () => fake.alive,
      ready: Promise.resolve(),
      discard: () => {
        fake.discarded = true
      },
    }
    return { cell, fake } as unknown as ReadyCell
  }
  const numberOf = (ready: ReadyCell | undefined) =>
    (ready as unknown as { readonly fake: FakeCell } | undefined)?.fake.number
  const pool: Pool = createPool(
    () => prepare(make),
    async (_input, ready) => {
      served.push(numberOf(await ready))
      return {} as Awaited<ReturnType<Pool['run']>>
    },
    kept,
    () => {
      closes += 1
    },
  )
  return { pool, made, served, closes: () => closes }
}

const call = { argv: ['/bin/true'] }

const nextTurn = () =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

describe('a pool', () => {
  it('uses each cell once', async () => {
    const { pool, served } = startPool((make) => Promise.resolve(make()))
    for (let turn = 0; turn < 3; turn += 1) {
      await pool.run(call)
      await pool.ready()
    }
    expect(served).toEqual([...new Set(served)])
    expect(served).not.toContain(undefined)
  })

  it('builds the next cell after the caller has its result', async () => {
    const { pool, made } = startPool((make) => Promise.resolve(make()))
    await pool.ready()
    await pool.run(call)
    const madeBefore = made.length
    await nextTurn()
    expect([madeBefore, made.length]).toEqual([1, 2])
  })

  it('skips a cell that died while it waited', async () => {
    const { pool, made, served } = startPool((make) => Promise.resolve(make()))
    await pool.ready()
    for (const cell of made) cell.alive = false
    await pool.run(call)
    expect(served).toEqual([undefined])
  })

  it('lets a call run without a warm cell if none can be built, and tries again for the next', async () => {
    let broken = true
    const { pool, served } = startPool((make) =>
      broken ? Promise.reject(new Error('not now')) : Promise.resolve(make()),
    )
    await pool.run(call)
    broken = false
    await pool.run(call)
    await pool.ready()
    await pool.run(call)
    expect(served).toEqual([undefined, undefined, expect.any(Number)])
  })

  it('tells a waiting caller why no cell is ready', async () => {
    const { pool } = startPool(() => Promise.reject(new Error('not now')))
    await expect(pool.ready()).rejects.toThrow('not now')
  })

  it('keeps at most 8 cells ready, however many calls overlap', async () => {
    const { pool } = startPool((make) => Promise.resolve(make()))
    await Promise.all(Array.from({ length: 40 }, () => pool.run(call)))
    await nextTurn()
    expect(pool.size()).toBe(8)
  })

  it('keeps one cell when nobody calls for a while, and drops the others', async () => {
    const { pool, made, served } = startPool((make) => Promise.resolve(make()))
    await Promise.all([pool.run(call), pool.run(call), pool.run(call)])
    await nextTurn()
    const busy = pool.size()
    await vi.advanceTimersByTimeAsync(300_000)
    expect([busy > 1, pool.size()]).toEqual([true, 1])
    const left = made.filter(({ number, discarded }) => !discarded && !served.includes(number))
    expect(left).toHaveLength(1)
  })

  it('gives up its cell if too many other pools were used later, and builds one again on request', async () => {
    const kept = keepLatest(2)
    const start = () => startPool((make) => Promise.resolve(make()), kept)
    const [first, second] = [start(), start()]
    await first.pool.run(call)
    await nextTurn()
    const third = start()
    await nextTurn()
    expect([first, second, third].map(({ pool }) => pool.size())).toEqual([1, 0, 1])
    await second.pool.ready()
    expect(second.pool.size()).toBe(1)
  })

  it('keeps its cells while it is used', async () => {
    const { pool } = startPool((make) => Promise.resolve(make()))
    for (let turn = 0; turn < 5; turn += 1) {
      await vi.advanceTimersByTimeAsync(20_000)
      await pool.run(call)
    }
    await nextTurn()
    expect(pool.size()).toBeGreaterThan(0)
  })

  it('discards its cells when closed, also one that is being built, and refuses calls', async () => {
    let arrive: ((cell: ReadyCell) => void) | undefined
    let make: (() => ReadyCell) | undefined
    const { pool, made, closes } = startPool((maker) => {
      make = maker
      return new Promise((resolve) => {
        arrive = resolve
      })
    })
    pool.close()
    if (make !== undefined) arrive?.(make())
    await vi.waitFor(() => {
      expect(made.map(({ discarded }) => discarded)).toEqual([true])
    }, 60_000)
    await expect(pool.run(call)).rejects.toMatchObject({ code: 'sandbox-closed' })
    expect([pool.size(), closes()]).toEqual([0, 1])
  })
})
