// Runs of a team: a plan that people approve, and the calls that are made for it. Questions about runs are in
// approvals.ts, with those about calls.
import type { Queryable } from '../engine.js'
import { storeMissing } from '../engine/sql-error.js'
import { showQuestion } from './approvals.js'
import { TEAM_RUN } from './call-answers.js'
import type { ShownRun, TeamRun } from './call-answers.js'
import { callFunction, columnsOf, jsonText, milliseconds } from './statements.js'

export interface RunRequest {
  readonly name: string
  readonly plan: object
  /** How many people have to approve. */
  readonly needed?: number
  readonly validMs?: number
}

export const startRun = async (
  session: Queryable,
  owner: string,
  { name, plan, needed, validMs }: RunRequest,
): Promise<string> =>
  callFunction(session, 'fn_start_team_run', {
    owner,
    name,
    plan: jsonText(plan, 'the plan'),
    needed,
    valid: validMs === undefined ? undefined : milliseconds(validMs),
  })

// A run expires at its time, even if upkeep has not recorded that yet.
const STATUS = `case when r.status in ('pending', 'approved') and r.expires_at <= now() then 'expired' else r.status end`
const RUN_COLUMNS = columnsOf(TEAM_RUN, { status: STATUS, planHash: 'a.arguments_hash' }, 'r.')
const RUNS = `agents.team_runs r join agents.approvals a on a.subject_id = r.id and a.subject_kind = 'team_run'`

interface RunFilter {
  readonly team: string
  readonly status?: TeamRun['status']
  readonly most?: number
}

/** Newest first. */
export const listRuns = ({ query }: Queryable, { team, status, most = 50 }: RunFilter): Promise<readonly TeamRun[]> =>
  query(
    `select ${RUN_COLUMNS} from ${RUNS} where r.owner = $1 and ${STATUS} = coalesce($2, ${STATUS}) order by ` +
      'r.created_at desc limit $3',
    [team, status ?? null, most],
  )

const MOST_CALLS = 200

export const showRun = async ({ query }: Queryable, id: string): Promise<ShownRun> => {
  const [run] = await query<TeamRun>(`select ${RUN_COLUMNS} from ${RUNS} where r.id = $1`, [id])
  if (run === undefined) throw storeMissing(`there is no run ${id}, or it is not yours to see`)
  const { question, votes, run: shown } = await showQuestion({ query }, id)
  return {
    run,
    planText: shown?.planText ?? '',
    question,
    votes,
    calls: await query(
      `select id, tool_key as tool, agent, step_id as step, status, created_at as "createdAt" from agents.tool_invocations
        where team_run_id = $1 and created_at >= agents.fn_time_of($1) order by created_at desc limit $2`,
      [id, MOST_CALLS],
    ),
  }
}

/** Ends its open calls too. */
export const cancelRun = (session: Queryable, id: string, reason?: string): Promise<TeamRun['status']> =>
  callFunction(session, 'fn_cancel_team_run', { id, reason })
