// Runs of a team: a plan that people agree to, and the calls that are made for it. What people say to one is among the
// approvals (approvals.ts): one list for calls and runs.
import { showQuestion } from './approvals.js'
import type { ShownQuestion } from './approvals.js'
import type { Session } from '../engine.js'
import { jsonText } from './json-text.js'
import { missing } from '../engine/ways-out.js'

type Asking = Pick<Session, 'query'>

export const RUN_STATES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const

export interface TeamRun {
  readonly id: string
  readonly owner: string
  readonly name: string
  /** Calls can be made for it while it is approved. */
  readonly status: (typeof RUN_STATES)[number]
  readonly startedBy: string
  /** Of the plan: what people say is for this. */
  readonly planHash: string
  readonly expiresAt: Date
  readonly createdAt: Date
}

export interface RunRequest {
  readonly name: string
  readonly plan: object
  /** How many different people have to agree. */
  readonly needed?: number
  readonly validMs?: number
}

const DAY_MS = 86_400_000

export const startRun = async (
  { query }: Asking,
  team: string,
  { name, plan, needed = 1, validMs = DAY_MS }: RunRequest,
): Promise<string> =>
  (
    await query<{ id: string }>('select agents.fn_start_team_run($1, $2, $3, $4, $5::interval) as id', [
      team,
      name,
      jsonText(plan, 'the plan'),
      needed,
      `${String(validMs)} milliseconds`,
    ])
  )[0]?.id ?? ''

// Over is over, also before upkeep has written it down.
const STATUS = `case when r.status in ('pending', 'approved') and r.expires_at <= now() then 'expired' else r.status end`
const RUN_COLUMNS =
  `r.id, r.owner, r.name, ${STATUS} as status, r.started_by as "startedBy", a.arguments_hash as "planHash", ` +
  'r.expires_at as "expiresAt", r.created_at as "createdAt"'
const RUNS = `agents.team_runs r join agents.approvals a on a.subject_id = r.id and a.subject_kind = 'team_run'`

export interface RunFilter {
  readonly team: string
  readonly status?: TeamRun['status']
  readonly most?: number
}

/** The newest first. */
export const listRuns = ({ query }: Asking, { team, status, most = 50 }: RunFilter): Promise<readonly TeamRun[]> =>
  query(
    `select ${RUN_COLUMNS} from ${RUNS} where r.owner = $1 and ${STATUS} = coalesce($2, ${STATUS}) order by ` +
      'r.created_at desc limit $3',
    [team, status ?? null, most],
  )

/** A run with its plan, what people said, and its calls. */
export interface ShownRun extends Pick<ShownQuestion, 'question' | 'votes'> {
  readonly run: TeamRun
  /** As the database has it, digit by digit. */
  readonly planText: string
  /** Those that who asks may see, the newest first. */
  readonly calls: readonly {
    readonly id: string
    readonly tool: string
    readonly agent: string
    readonly step: string | null
    readonly status: string
    readonly createdAt: Date
  }[]
}

const MOST_CALLS = 200

export const showRun = async ({ query }: Asking, id: string): Promise<ShownRun> => {
  const [run] = await query<TeamRun>(`select ${RUN_COLUMNS} from ${RUNS} where r.id = $1`, [id])
  if (run === undefined) throw missing(`there is no run ${id}, or it is not yours to see`)
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

/** With it goes what is open of its calls. */
export const cancelRun = async ({ query }: Asking, id: string, reason?: string): Promise<TeamRun['status']> =>
  (
    await query<{ status: TeamRun['status'] }>('select agents.fn_cancel_team_run($1, $2) as status', [
      id,
      reason ?? null,
    ])
  )[0]?.status ?? 'cancelled'
