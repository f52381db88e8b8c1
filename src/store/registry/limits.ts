// How many questions of one agent may wait at the same time.
import type { Session } from '../engine.js'

type Asking = Pick<Session, 'query'>

export interface WaitingLimit {
  /** Null: of every agent of the team that has no limit of its own. */
  readonly agent: string | null
  readonly waiting: number
}

export const listLimits = ({ query }: Asking, team: string): Promise<readonly WaitingLimit[]> =>
  query(
    `select nullif(agent, '') as agent, most as waiting from agents.waiting_limits where owner = $1 and most ` +
      'is not null order by waiting_limits.agent',
    [team],
  )

/** Without a number it is the default again. */
export const limitWaiting = async (
  { query }: Asking,
  team: string,
  { agent, waiting }: { readonly agent?: string; readonly waiting?: number },
): Promise<void> => {
  await query('select agents.fn_limit_waiting($1, $2, $3)', [team, waiting ?? null, agent ?? ''])
}
