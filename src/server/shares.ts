// What everybody has of a server: connections of the database go round, and nobody has so many requests open that
// others find no room. A party is somebody in a team; what is allowed to a team bounds all who speak in it. A team has
// no more than twice of what is left over: one who has many teams finds, with each, less to take, and who comes next
// finds room. Not by the name of who asks in several teams, because a name is given by each team: one would use up what
// is another's.
import { fail } from '../errors/index.js'

import { createRounds } from './rounds.js'
import type { Party, Ticket } from './rounds.js'

export type { Party } from './rounds.js'

export interface ShareLimits {
  /** At the same time with the database: all, those of a team, those of one caller. */
  readonly turns: Share
  /** Requests that were let in and have no answer yet, whether they run, or wait for their turn or for a change. */
  readonly open: Share
  /** Bytes of requests that are being read, and of answers that were not taken in yet. */
  readonly bytes: Share
  /** How long a turn is waited for. */
  readonly patienceMs: number
}

export interface Share {
  readonly all: number
  readonly team: number
  readonly caller: number
}

/** A request that was let in. */
export interface Seat {
  readonly turn: <Result>(work: () => Promise<Result>, gone: AbortSignal) => Promise<Result>
  /** Holds so many bytes, of what is asked or answered, until it leaves. Throws `store-busy` where that is too much. */
  readonly hold: (bytes: number) => void
  readonly leave: () => void
}

export interface Shares {
  /** Throws `request-too-many`. */
  readonly enter: (party: Party) => Seat
}

export const createShares = ({ turns, open, bytes, patienceMs }: ShareLimits): Shares => {
  const held = createCounts()
  const opened = createCounts()
  const running = createCounts()
  const waiting = createRounds()

  const next = (): void => {
    while (running.all() < turns.all) {
      const ticket = waiting.take(
        (team) => running.ofTeam(team) < ofTeamNow(turns, running),
        (party) => running.ofCaller(party) < turns.caller,
      )
      if (ticket === undefined) return
      running.add(ticket.party, 1)
      ticket.begin()
    }
  }

  const turnOf = (party: Party, gone: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer)
        gone.removeEventListener('abort', leave)
      }
      const ticket: Ticket = {
        party,
        begin: () => {
          settle()
          resolve()
        },
      }
      const refuse = (problem: string): void => {
        settle()
        waiting.remove(ticket)
        reject(fail('store-busy', { problem }))
      }
      const leave = (): void => {
        refuse('who asked went away')
      }
      const timer = setTimeout(() => {
        refuse('no connection of the database became free in time')
      }, patienceMs)
      gone.addEventListener('abort', leave, { once: true })
      waiting.put(ticket)
      if (gone.aborted) leave()
      else next()
    })

  return {
    enter: (party) => {
      const most = party.isUnknown === true ? { ...open, team: Math.ceil(open.all / 2) } : open
      const full = (['caller', 'all', 'team'] as const).find(
        (whose) => countOf(opened, whose, party) >= mostNow(most, opened, whose),
      )
      if (full !== undefined)
        throw fail('request-too-many', {
          who: { caller: party.caller, team: party.team, all: 'everybody together' }[full],
          open: countOf(opened, full, party),
        })
      opened.add(party, 1)
      let isIn = true
      let holds = 0
      return {
        turn: async (work, gone) => {
          await turnOf(party, gone)
          try {
            return await work()
          } finally {
            running.add(party, -1)
            next()
          }
        },
        hold: (more) => {
          if (!isIn) return
          const isMuch = (['caller', 'team', 'all'] as const).some(
            (whose) =>
              countOf(held, whose, party) > 0 && countOf(held, whose, party) + more > mostNow(bytes, held, whose),
          )
          if (isMuch)
            throw fail('store-busy', { problem: 'many bytes of requests and answers are on their way already' })
          holds += more
          held.add(party, more)
        },
        leave: () => {
          if (!isIn) return
          isIn = false
          opened.add(party, -1)
          held.add(party, -holds)
        },
      }
    },
  }
}

interface Counts {
  readonly add: (party: Party, by: number) => void
  readonly all: () => number
  readonly ofTeam: (team: string) => number
  readonly ofCaller: (party: Party) => number
}

const countOf = (counts: Counts, whose: keyof Share, party: Party): number =>
  whose === 'all' ? counts.all() : whose === 'team' ? counts.ofTeam(party.team) : counts.ofCaller(party)

const OF_WHAT_IS_LEFT = 2

const ofTeamNow = ({ team, all }: Share, counts: Counts): number =>
  Math.min(team, OF_WHAT_IS_LEFT * (all - counts.all()))

const mostNow = (share: Share, counts: Counts, whose: keyof Share): number =>
  whose === 'team' ? ofTeamNow(share, counts) : share[whose]

const createCounts = (): Counts => {
  const counted = new Map<string, number>()
  const count = (key: string, by: number): void => {
    const now = (counted.get(key) ?? 0) + by
    if (now === 0) counted.delete(key)
    else counted.set(key, now)
  }
  const keyOf = ({ team, caller }: Party): string => JSON.stringify([team, caller])
  const teamKey = (team: string): string => JSON.stringify([team])
  let all = 0
  return {
    add: (party, by) => {
      all += by
      count(teamKey(party.team), by)
      count(keyOf(party), by)
    },
    all: () => all,
    ofTeam: (team) => counted.get(teamKey(team)) ?? 0,
    ofCaller: (party) => counted.get(keyOf(party)) ?? 0,
  }
}
