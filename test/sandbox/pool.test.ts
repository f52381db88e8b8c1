// How a pool behaves where a real launcher cannot be made to: cells that fail to come, and when.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createPool } from '../../src/sandbox/launch/pool.js'
import type { Pool } from '../../src/sandbox/launch/pool.js'
import type { ReadyCell } from '../../src/sandbox/launch/ready-cell.js'

interface FakeCell {
  readonly number: number
  alive: boolean
  discarded: boolean
}

const startPool = (prepare: (make: () => ReadyCell) => Promise<ReadyCell>) => {
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

  it('makes the next cell after the caller has its result', async () => {
    const { pool, made } = startPool((make) => Promise.resolve(make()))
    await pool.ready()
    await pool.run(call)
    const madeBefore = made.length
    await nextTurn()
    expect([madeBefore, made.length]).toEqual([1, 2])
  })

  it('passes over a cell that died while it waited', async () => {
    const { pool, made, served } = startPool((make) => Promise.resolve(make()))
    await pool.ready()
    for (const cell of made) cell.alive = false
    await pool.run(call)
    expect(served).toEqual([undefined])
  })

  it('lets a call go on without a ready cell when none can be made, and tries again for the next', async () => {
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

  it('says why no cell stands ready to who waits for one', async () => {
    const { pool } = startPool(() => Promise.reject(new Error('not now')))
    await expect(pool.ready()).rejects.toThrow('not now')
  })

  it('holds no more than 8 in reserve, however many calls overlap', async () => {
    const { pool } = startPool((make) => Promise.resolve(make()))
    await Promise.all(Array.from({ length: 40 }, () => pool.run(call)))
    await nextTurn()
    expect(pool.size()).toBe(8)
  })

  it('gives up what nobody used for a while, and holds one again when asked', async () => {
    const { pool, made } = startPool((make) => Promise.resolve(make()))
    await pool.ready()
    await vi.advanceTimersByTimeAsync(60_000)
    expect([pool.size(), made.every(({ discarded }) => discarded)]).toEqual([0, true])
    await pool.ready()
    expect(pool.size()).toBe(1)
  })

  it('does not give up while it is used', async () => {
    const { pool } = startPool((make) => Promise.resolve(make()))
    for (let turn = 0; turn < 5; turn += 1) {
      await vi.advanceTimersByTimeAsync(20_000)
      await pool.run(call)
    }
    await nextTurn()
    expect(pool.size()).toBeGreaterThan(0)
  })

  it('that is closed discards its cells, also one that is still being made, and refuses calls', async () => {
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
