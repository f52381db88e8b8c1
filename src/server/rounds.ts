// Who waits for a turn, and who gets the next one.
export interface Party {
  readonly team: string
  readonly caller: string
  /** Many who have nothing in common but that nobody knows them yet. */
  readonly isUnknown?: true
}

export interface Ticket {
  readonly party: Party
  readonly begin: () => void
}

export interface Rounds {
  readonly put: (ticket: Ticket) => void
  readonly remove: (ticket: Ticket) => void
  /** The next one by turns: of teams, within a team of its callers, of a caller the oldest. */
  readonly take: (mayTeam: (team: string) => boolean, mayCaller: (party: Party) => boolean) => Ticket | undefined
}

/** Who had a turn goes behind the others: a map keeps the order in which its keys were set. */
export const createRounds = (): Rounds => {
  const teams = new Map<string, Map<string, Set<Ticket>>>()
  const drop = ({ team, caller }: Party): void => {
    const callers = teams.get(team)
    if (callers?.get(caller)?.size === 0) callers.delete(caller)
    if (callers?.size === 0) teams.delete(team)
  }
  const remove: Rounds['remove'] = (ticket) => {
    teams.get(ticket.party.team)?.get(ticket.party.caller)?.delete(ticket)
    drop(ticket.party)
  }
  return {
    put: (ticket) => {
      const { team, caller } = ticket.party
      const callers = teams.get(team) ?? new Map<string, Set<Ticket>>()
      teams.set(team, callers.set(caller, (callers.get(caller) ?? new Set()).add(ticket)))
    },
    remove,
    take: (mayTeam, mayCaller) => {
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
