import type { Session } from '../engine.js'
import { INVOCATION_COLUMNS } from './invocation.js'
import type { Invocation } from './invocation.js'

export interface RunnerFacts {
  readonly name: string
  readonly labels: readonly string[]
  /** Mechanisms that the host can hold, as `cordon doctor` names them. */
  readonly holds: readonly string[]
  readonly isDraining: boolean
  /** For how long it may be silent before others take its calls for lost. It ends them itself before. */
  readonly leaseMs?: number
  /** What people may want to know of its host. */
  readonly facts?: object
}

const LEASE_MS = 60_000

export const sendHeartbeat = async (
  { query }: Pick<Session, 'query'>,
  { name, labels, holds, isDraining, leaseMs = LEASE_MS, facts = {} }: RunnerFacts,
): Promise<void> => {
  await query('select agents.fn_heartbeat($1, $2, $3, $4, $5, $6::interval)', [
    name,
    labels,
    holds,
    JSON.stringify(facts),
    isDraining,
    `${String(leaseMs)} milliseconds`,
  ])
}

/** Takes approved calls that this runner may run; each belongs to it alone from then on. */
export const claimInvocations = (
  { query }: Pick<Session, 'query'>,
  runner: string,
  wanted: { readonly most: number } | { readonly id: string },
): Promise<readonly Invocation[]> =>
  query(
    `select ${INVOCATION_COLUMNS} from agents.fn_claim_tool_invocations($1, $2, $3)`,
    'id' in wanted ? [runner, 1, wanted.id] : [runner, wanted.most, null],
  )

export interface Upkeep {
  readonly expired: number
  readonly recovered: number
}

/**
 * Calls that nobody will run any more, and calls of runners that have become silent. Any process may do it, at any
 * time.
 */
export const keepUp = async ({ query }: Pick<Session, 'query'>, forgottenMs = LEASE_MS): Promise<Upkeep> => {
  const [row] = await query<Upkeep>(
    'select agents.fn_expire_invocations() as expired, agents.fn_recover_lost_invocations() as recovered',
  )
  // Each by itself: one that has to wait for somebody, and gives up, keeps none of the others from being done.
  const others = await Promise.allSettled([
    query('select agents.fn_queue_forgotten($1::interval)', [`${String(forgottenMs)} milliseconds`]),
    query('select agents.fn_expire_team_runs()'),
    query('select agents.fn_reject_superseded()'),
    query('select agents.fn_tidy()'),
    query('select agents.fn_make_next_partitions()'),
  ])
  for (const other of others) if (other.status === 'rejected') throw other.reason
  return row ?? { expired: 0, recovered: 0 }
}

/**
 * Calls that the registry lists as claimed by this runner. One that the runner does not know was claimed when the
 * connection broke.
 */
export const findClaimed = (
  { query }: Pick<Session, 'query'>,
  runner: string,
  olderMs: number,
): Promise<readonly Invocation[]> =>
  query(
    `select ${INVOCATION_COLUMNS} from agents.tool_invocations where status = 'running' and runner_id = ` +
      '(select r.id from agents.runners r where r.name = $1 and r.actor = agents.fn_actor() and r.team = ' +
      'agents.fn_team()) and started_at < clock_timestamp() - $2::interval',
    [runner, `${String(olderMs)} milliseconds`],
  )

/** A version of a tool that this login may run, as the team registered it. */
export interface RunnableTool {
  readonly id: string
  readonly owner: string
  readonly key: string
  readonly version: number
  readonly egressClass: 'none' | 'read_only' | 'write'
  readonly definition: Readonly<Record<string, unknown>>
  readonly needsLabels: readonly string[]
  readonly needsBoundary: readonly string[]
  /** The credential of the team that is given to who runs a call of it. */
  readonly credentialRef: string | null
  /** Its name in the queue. */
  readonly task: string
}

export const listRunnableTools = (
  { query }: Pick<Session, 'query'>,
  keys: readonly string[],
): Promise<readonly RunnableTool[]> =>
  query(
    `select t.id, t.owner, t.key, t.version, t.egress_class as "egressClass", t.definition, t.needs_labels as "needsLabels", t.needs_boundary as "needsBoundary", t.credential_ref as "credentialRef", agents.fn_task_of(t.id, t.version) as task
      from agents.tools_registry t where t.key = any ($1) and t.status <> 'disabled' and agents.fn_is_member(t.owner, array['runner']) order by t.owner, t.key`,
    [keys],
  )
