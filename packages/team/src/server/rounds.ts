// The queue for turns: which waiting request gets the next one.
export interface Party {
  readonly team: string
  readonly caller: string
  /** Not authenticated yet. */
  readonly isUnknown?: true
}

export interface Ticket {
  readonly party: Party
  readonly begin: () => void
}

export interface Rounds {
  readonly put: (ticket: Ticket) => void
  readonly remove: (ticket: Ticket) => void
  /** Round robin over teams, then over the callers of a team. A caller's oldest ticket is first. */
  readonly take: (mayTeam: (team: string) => boolean, mayCaller: (party: Party) => boolean) => Ticket | undefined
}

/** Relies on the order of a Map: a key that is set again goes last. */
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
