// What runners ask of the registry: claims, heartbeats, tools, upkeep.
import type { Queryable } from '../engine.js'
import type { Invocation } from './call-answers.js'
import { INVOCATION_COLUMNS } from './invocations.js'
import { callProcedure, milliseconds } from './statements.js'
import type { RegisteredTool } from './team-answers.js'

export interface RunnerFacts {
  readonly name: string
  readonly labels: readonly string[]
  /** Mechanisms that the host has, as `cordon doctor` names them. */
  readonly holds: readonly string[]
  readonly isDraining: boolean
  /** After this much silence its calls count as lost. It ends them itself before that. */
  readonly leaseMs?: number
  /** Facts about its host, for people. */
  readonly facts?: object
}

const LEASE_MS = 60_000

export const sendHeartbeat = (
  session: Queryable,
  { name, labels, holds, isDraining, leaseMs = LEASE_MS, facts = {} }: RunnerFacts,
): Promise<void> =>
  callProcedure(session, 'fn_heartbeat', {
    runner: name,
    labels,
    holds,
    facts: JSON.stringify(facts),
    isDraining,
    lease: milliseconds(leaseMs),
  })

/** Claims approved calls that this runner may run. No other runner gets them. */
export const claimInvocations = (
  { query }: Queryable,
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

/** Expires old calls, and recovers those of silent runners. Any process may do it at any time. */
export const maintainRegistry = async ({ query }: Queryable, forgottenMs = LEASE_MS): Promise<Upkeep> => {
  const [row] = await query<Upkeep>(
    'select agents.fn_expire_invocations() as expired, agents.fn_recover_lost_invocations() as recovered',
  )
  // Each by itself: one that gives up waiting for a lock does not keep the others from being done.
  const others = await Promise.allSettled([
    query('select agents.fn_queue_forgotten($1::interval)', [milliseconds(forgottenMs)]),
    query('select agents.fn_expire_team_runs()'),
    query('select agents.fn_reject_superseded()'),
    query('select agents.fn_tidy()'),
    query('select agents.fn_make_next_partitions()'),
  ])
  for (const other of others) if (other.status === 'rejected') throw other.reason
  return row ?? { expired: 0, recovered: 0 }
}

/** Calls claimed by this runner. It does not know one if the connection broke while it claimed. */
export const findClaimed = ({ query }: Queryable, runner: string, olderMs: number): Promise<readonly Invocation[]> =>
  query(
    `select ${INVOCATION_COLUMNS} from agents.tool_invocations where status = 'running' and runner_id = ` +
      '(select r.id from agents.runners r where r.name = $1 and r.actor = agents.fn_actor() and r.team = ' +
      'agents.fn_team()) and started_at < clock_timestamp() - $2::interval',
    [runner, milliseconds(olderMs)],
  )

/** A version of a tool that this login may run. `task` is its name in the queue. */
export type RunnableTool = Pick<
  RegisteredTool,
  'id' | 'owner' | 'key' | 'version' | 'egressClass' | 'definition' | 'needsLabels' | 'needsBoundary' | 'credentialRef'
> & { readonly task: string }

export const listRunnableTools = ({ query }: Queryable, keys: readonly string[]): Promise<readonly RunnableTool[]> =>
  query(
    `select t.id, t.owner, t.key, t.version, t.egress_class as "egressClass", t.definition, t.needs_labels as "needsLabels", t.needs_boundary as "needsBoundary", t.credential_ref as "credentialRef", agents.fn_task_of(t.id, t.version) as task
      from agents.tools_registry t where t.key = any ($1) and t.status <> 'disabled' and agents.fn_is_member(t.owner, array['runner']) order by t.owner, t.key`,
    [keys],
  )
