// Whose turn it is. These tests take no time: a turn ends when the test says so.
import { describe, expect, test } from 'vitest'

import { createShares } from '../../src/server/shares.js'
import type { Client, ShareLimits } from '../../src/server/shares.js'

const EVERYTHING = { caller: 1_000_000, team: 1_000_000, all: 1_000_000 }
const LIMITS: ShareLimits = { turns: EVERYTHING, open: EVERYTHING, bytes: EVERYTHING, patienceMs: 60_000 }
const NEVER = new AbortController().signal

const stage = (limits: Partial<ShareLimits>) => {
  const shares = createShares({ ...LIMITS, ...limits })
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (team: string, caller: string, name: string, gone = NEVER) => {
    const seat = shares.enter({ team, caller })
    const done = seat.turn(
      () =>
        new Promise<void>((resolve) => {
          began.push(name)
          ends.set(name, resolve)
        }),
      gone,
    )
    done.catch(() => undefined)
    return { seat, done }
  }
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    // Who comes next begins when this one has let go.
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  return { shares, began, ask, end }
}

describe('turns', () => {
  test("alternate between teams, within a team between callers, and start with a caller's oldest request", async () => {
    const { began, ask, end } = stage({ turns: { caller: 1, team: 1, all: 1 } })
    for (const name of ['a1', 'a2', 'a3']) ask('acme', 'ada', name)
    ask('acme', 'bea', 'b1')
    ask('other', 'zoe', 'z1')
    ask('other', 'zoe', 'z2')
    for (const name of ['a1', 'b1', 'z1', 'a2', 'z2', 'a3']) await end(began.at(-1) ?? name)
    expect(began).toEqual(['a1', 'a2', 'z1', 'b1', 'z2', 'a3'])
  })

  test('of one caller and of one team leave some for others', async () => {
    const { began, ask } = stage({ turns: { caller: 2, team: 3, all: 4 } })
    for (const name of ['a1', 'a2', 'a3']) ask('acme', 'ada', name)
    for (const name of ['b1', 'b2']) ask('acme', 'bea', name)
    expect(began).toEqual([])
    await Promise.resolve()
    expect(began).toEqual(['a1', 'a2', 'b1'])
    ask('other', 'zoe', 'z1')
    ask('other', 'zoe', 'z2')
    await Promise.resolve()
    expect(began).toEqual(['a1', 'a2', 'b1', 'z1'])
  })

  test('of several teams together leave some for the next: each gets fewer', async () => {
    const { began, ask, end } = stage({ turns: { caller: 5, team: 7, all: 10 } })
    for (const team of ['evil', 'vile'])
      for (const caller of ['mallory', 'mallet'])
        for (let at = 0; at < 8; at += 1) ask(team, caller, `${team}-${caller}-${String(at)}`)
    await Promise.resolve()
    expect(began.length).toBe(9)
    ask('acme', 'ada', 'a1')
    await Promise.resolve()
    expect(began.at(-1)).toBe('a1')
    // What they give back they do not all take again.
    for (const name of began.filter((each) => each.startsWith('evil')).slice(0, 3)) await end(name)
    ask('acme', 'ada', 'a2')
    await Promise.resolve()
    expect(began.at(-1)).toBe('a2')
  })

  test('are not given to a client that has gone, before or during the wait', async () => {
    const { began, ask, end } = stage({ turns: { caller: 1, team: 1, all: 1 } })
    ask('acme', 'ada', 'a1')
    const gone = new AbortController()
    const left = ask('acme', 'ada', 'a2', gone.signal)
    ask('acme', 'ada', 'a3')
    gone.abort()
    await expect(left.done).rejects.toMatchObject({ code: 'store-busy' })
    await expect(ask('acme', 'ada', 'a4', gone.signal).done).rejects.toMatchObject({ code: 'store-busy' })
    await end('a1')
    expect(began).toEqual(['a1', 'a3'])
  })

  test('are given back after a failure', async () => {
    const { shares } = stage({ turns: { caller: 1, team: 1, all: 1 } })
    const seat = shares.enter({ team: 'acme', caller: 'ada' })
    await expect(seat.turn(() => Promise.reject(new Error('no')), NEVER)).rejects.toThrow('no')
    expect(await seat.turn(() => Promise.resolve('yes'), NEVER)).toBe('yes')
  })
})

describe('seats', () => {
  const ADA: Client = { team: 'acme', caller: 'ada' }

  test('are limited for a caller, a team and all, and given back once', () => {
    const { shares } = stage({ open: { caller: 1, team: 2, all: 3 } })
    const [ada, bea] = [shares.enter(ADA), shares.enter({ team: 'acme', caller: 'bea' })]
    expect(() => shares.enter(ADA)).toThrow('ada has reached the limit of open requests (1)')
    expect(() => shares.enter({ team: 'acme', caller: 'cleo' })).toThrow(
      'acme has reached the limit of open requests (2)',
    )
    shares.enter({ team: 'other', caller: 'zoe' })
    expect(() => shares.enter({ team: 'third', caller: 'mia' })).toThrow(
      'everybody together has reached the limit of open requests (3)',
    )
    ada.leave()
    ada.leave()
    shares.enter(ADA)
    expect(() => shares.enter({ team: 'third', caller: 'mia' })).toThrow('everybody together')
    bea.leave()
    shares.enter({ team: 'third', caller: 'mia' })
  })

  test('of several teams leave some for the next, and the error says how many', () => {
    const { shares } = stage({ open: { caller: 10, team: 10, all: 12 } })
    const fill = (team: string): number => {
      for (let taken = 0; ; taken += 1) {
        try {
          shares.enter({ team, caller: String(taken) })
        } catch {
          return taken
        }
      }
    }
    expect([fill('evil'), fill('vile'), fill('acme')]).toEqual([8, 3, 1])
    expect(() => shares.enter({ team: 'other', caller: 'zoe' })).toThrow(
      'everybody together has reached the limit of open requests (12)',
    )
  })

  test('hold bytes until they are released, and the first may hold more than all', () => {
    const { shares } = stage({ bytes: { caller: 10, team: 15, all: 100 } })
    const [one, two, bea] = [shares.enter(ADA), shares.enter(ADA), shares.enter({ team: 'acme', caller: 'bea' })]
    one.hold(50)
    expect(() => {
      two.hold(1)
    }).toThrow('on their way')
    expect(() => {
      bea.hold(1)
    }).toThrow('on their way')
    shares.enter({ team: 'other', caller: 'zoe' }).hold(10)
    one.leave()
    two.hold(10)
    bea.hold(5)
  })
})
