// Shares a server fairly: database connections go round, and no caller can open so many requests that others find no
// room. A party is one caller in one team. The limit of a team holds for all its callers. A team also gets at most
// twice of what is left, so that a caller with many teams gets less with each. The same name in two teams may be two
// people, so names are not counted across teams.
import { fail } from '../errors/errors.js'

export interface Client {
  readonly team: string
  readonly caller: string
  /** Not authenticated yet. */
  readonly isUnknown?: true
}

export interface ShareLimits {
  /** Operations that use the database at the same time. */
  readonly turns: Share
  /** Requests without an answer, running or waiting. */
  readonly open: Share
  /** Bytes of requests that are being read, and of answers that are being sent. */
  readonly bytes: Share
  /** How long to wait for a turn. */
  readonly patienceMs: number
}

interface Share {
  readonly all: number
  readonly team: number
  readonly caller: number
}

/** A request that was let in. */
interface Seat {
  readonly turn: <Result>(work: () => Promise<Result>, gone: AbortSignal) => Promise<Result>
  /** Counts bytes of request or answer until `leave`. Throws `store-busy` if that is too much. */
  readonly hold: (bytes: number) => void
  readonly leave: () => void
}

export interface Shares {
  /** Throws `request-too-many`. */
  readonly enter: (party: Client) => Seat
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

  const turnOf = (party: Client, gone: AbortSignal): Promise<void> =>
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

type Counts = ReturnType<typeof createCounts>

const countOf = (counts: Counts, whose: keyof Share, party: Client): number =>
  whose === 'all' ? counts.all() : whose === 'team' ? counts.ofTeam(party.team) : counts.ofCaller(party)

const ofTeamNow = ({ team, all }: Share, counts: Counts): number => Math.min(team, 2 * (all - counts.all()))

const mostNow = (share: Share, counts: Counts, whose: keyof Share): number =>
  whose === 'team' ? ofTeamNow(share, counts) : share[whose]

const createCounts = () => {
  const counted = new Map<string, number>()
  const count = (key: string, by: number): void => {
    const now = (counted.get(key) ?? 0) + by
    if (now === 0) counted.delete(key)
    else counted.set(key, now)
  }
  const keyOf = ({ team, caller }: Client): string => JSON.stringify([team, caller])
  const teamKey = (team: string): string => JSON.stringify([team])
  let all = 0
  return {
    add: (party: Client, by: number): void => {
      all += by
      count(teamKey(party.team), by)
      count(keyOf(party), by)
    },
    all: () => all,
    ofTeam: (team: string) => counted.get(teamKey(team)) ?? 0,
    ofCaller: (party: Client) => counted.get(keyOf(party)) ?? 0,
  }
}

interface Ticket {
  readonly party: Client
  readonly begin: () => void
}

/** Waiting requests. Relies on the order of a Map: a key that is set again goes last. */
const createRounds = () => {
  const teams = new Map<string, Map<string, Set<Ticket>>>()
  const drop = ({ team, caller }: Client): void => {
    const callers = teams.get(team)
    if (callers?.get(caller)?.size === 0) callers.delete(caller)
    if (callers?.size === 0) teams.delete(team)
  }
  const remove = (ticket: Ticket): void => {
    teams.get(ticket.party.team)?.get(ticket.party.caller)?.delete(ticket)
    drop(ticket.party)
  }
  return {
    put: (ticket: Ticket): void => {
      const { team, caller } = ticket.party
      const callers = teams.get(team) ?? new Map<string, Set<Ticket>>()
      teams.set(team, callers.set(caller, (callers.get(caller) ?? new Set()).add(ticket)))
    },
    remove,
    /** Round robin over teams, then over the callers of a team. A caller's oldest ticket is first. */
    take: (mayTeam: (team: string) => boolean, mayCaller: (party: Client) => boolean): Ticket | undefined => {
      for (const [team, callers] of teams) {
        if (!mayTeam(team)) continue
        for (const [caller, [ticket]] of callers) {
          if (ticket === undefined || !mayCaller(ticket.party)) continue
          remove(ticket)
          const rest = callers.get(caller)
          if (rest !== undefined) {
            callers.delete(caller)
            callers.set(caller, rest)
          }
          if (teams.delete(team) && callers.size > 0) teams.set(team, callers)
          return ticket
        }
      }
      return undefined
    },
  }
}
