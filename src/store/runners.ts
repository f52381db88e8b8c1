import type { Session } from './engine.js'
import { INVOCATION_COLUMNS } from './invocation.js'
import type { Invocation } from './invocation.js'

export interface RunnerFacts {
  readonly name: string
  readonly labels: readonly string[]
  /** Mechanisms that the host can hold, as `cordon doctor` names them. */
  readonly holds: readonly string[]
  readonly isDraining: boolean
}

export const sendHeartbeat = async ({ query }: Pick<Session, 'query'>, { name, labels, holds, isDraining }: RunnerFacts): Promise<void> => {
  await query('select agents.fn_heartbeat($1, $2, $3, $4, $5)', [name, labels, holds, '{}', isDraining])
}

/** Takes approved calls that this runner may run; each belongs to it alone from then on. */
export const claimInvocations = ({ query }: Pick<Session, 'query'>, runner: string, wanted: { readonly most: number } | { readonly id: string }): Promise<readonly Invocation[]> =>
  query(`select ${INVOCATION_COLUMNS} from agents.fn_claim_tool_invocations($1, $2, $3)`, 'id' in wanted ? [runner, 1, wanted.id] : [runner, wanted.most, null])

export interface Upkeep {
  readonly expired: number
  readonly recovered: number
}

/** Calls that nobody will run any more, and calls of runners that have become silent. Any process may do it, at any time. */
export const keepUp = async ({ query }: Pick<Session, 'query'>, silentMs: number): Promise<Upkeep> => {
  const [row] = await query<Upkeep>('select agents.fn_expire_invocations() as expired, agents.fn_recover_lost_invocations($1::interval) as recovered', [`${String(silentMs)} milliseconds`])
  await query('select agents.fn_make_partitions()')
  return row ?? { expired: 0, recovered: 0 }
}
