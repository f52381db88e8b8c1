import type { Session } from '../engine.js'
import type { Invocation } from './invocation.js'
import { approveInvocation, rejectInvocation, requireInvocation } from './invocations.js'
import { jsonText } from './json-text.js'
import { TOOL_COLUMNS } from './registry.js'
import type { RegisteredTool } from './registry.js'
import { missing } from '../engine/ways-out.js'

/** Something that a person is asked about. */
export interface OpenQuestion {
  readonly id: string
  readonly owner: string
  readonly subjectKind: 'tool_invocation' | 'team_run'
  readonly subjectId: string
  readonly argumentsHash: string
  readonly askedBy: string
  readonly why: string
  readonly needed: number
  readonly agreed: number
  readonly expiresAt: Date
  readonly createdAt: Date
  /** Of a call; null where it is about a run. */
  readonly tool: string | null
  readonly toolVersion: number | null
  readonly egressClass: string | null
  /** For whom it waits: the agent of a call, or who started the run. */
  readonly agent: string
  /**
   * When the process that asked was last heard, if it is gone. Null while it is heard, and where no process has to
   * wait: runs, and calls for runners.
   */
  readonly callerGoneSince: Date | null
}

/** In a list: with how many questions of the same agent wait in that team. */
export interface ListedQuestion extends OpenQuestion {
  readonly waiting: number
}

/**
 * A process that runs its calls itself is heard six times in its lease (own-host.ts), so after half of it three times
 * are missing. It was heard before it asked: processes that began later did not ask. Another one that began earlier and
 * is still heard may be the caller. While the server was down nobody could be heard.
 */
const CALLER_GONE = `(select max(r.last_seen) from agents.runners r
  where r.actor = a.agent and r.team in ('', a.owner) and r.first_seen <= a.created_at and r.last_seen + r.lease >= a.created_at
  having max(greatest(r.last_seen, pg_postmaster_start_time()) + r.lease / 2) < clock_timestamp()
    and agents.fn_runs_at_caller(a.subject_id))`

const QUESTION_COLUMNS = `a.id, a.owner, a.subject_kind as "subjectKind", a.subject_id as "subjectId", a.arguments_hash as "argumentsHash", a.asked_by as "askedBy", a.why, a.needed,
  agents.fn_agreed(a.id) as agreed, a.expires_at as "expiresAt", a.created_at as "createdAt",
  a.tool_key as tool, a.tool_version as "toolVersion", a.egress_class as "egressClass", a.agent, ${CALLER_GONE} as "callerGoneSince"`

export interface QuestionFilter {
  readonly team?: string
  readonly agent?: string
  readonly tool?: string
  /** Those that have waited for at least so long. */
  readonly olderMs?: number
  /** The id of the last question of the page before. */
  readonly after?: string
  readonly most?: number
}

const OPEN = `status = 'pending' and expires_at > now()`

/**
 * By turn: the agents of a team alternate, each with its oldest question first. A question keeps its turn, so pages
 * neither overlap nor leave one out.
 */
export const listQuestions = async (
  { query }: Pick<Session, 'query'>,
  { team, agent, tool, olderMs, after, most = 100 }: QuestionFilter = {},
): Promise<readonly ListedQuestion[]> => {
  const conditions = (
    [
      ['a.owner = ?', team],
      ['a.agent = ?', agent],
      ['a.tool_key = ?', tool],
      ['a.created_at <= now() - ?::interval', olderMs === undefined ? undefined : `${String(olderMs)} milliseconds`],
      ['(a.turn, a.id) > (select l.turn, l.id from agents.approvals l where l.id = ?)', after],
    ] as const
  ).flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]))
  const page = await query<ListedQuestion>(
    `with waiting as (select owner, agent, count(*)::int as waiting from agents.approvals where ${OPEN}${team === undefined ? '' : ' and owner = $1'} group by owner, agent)
      select ${QUESTION_COLUMNS}, w.waiting from (select * from agents.approvals where ${OPEN}) a join waiting w on w.owner = a.owner and w.agent = a.agent
      ${conditions.length === 0 ? '' : `where ${conditions.map(({ condition }, at) => condition.replace('?', `$${String(at + 1)}`)).join(' and ')}`} order by a.turn, a.id limit $${String(conditions.length + 1)}`,
    [...conditions.map(({ value }) => value), most],
  )
  // Nothing after a place that is not there is no answer.
  if (
    page.length === 0 &&
    after !== undefined &&
    (await query('select from agents.approvals where id = $1', [after])).length === 0
  )
    throw missing(`there is no question ${after}, or it is not yours to see`, 'begin with the first page again')
  return page
}

export interface Vote {
  readonly voter: string
  readonly verdict: 'approve' | 'reject'
  readonly reason: string | null
  readonly at: Date
  /** By which they were known, through a server; null where they logged in themselves, or were named at its socket. */
  readonly tokenId: string | null
  readonly tokenLabel: string | null
  readonly tokenMadeBy: string | null
}

/** What is selected of `agents.approval_votes v`, in the words of `Vote`. */
export const VOTE_COLUMNS =
  'v.voter, v.verdict, v.reason, v.at, v.token_id as "tokenId", v.token_label as "tokenLabel", ' +
  'v.token_made_by as "tokenMadeBy"'

/** A question with everything that somebody has to see before they answer it. */
export interface ShownQuestion {
  readonly question: OpenQuestion & { readonly status: string }
  readonly votes: readonly Vote[]
  readonly invocation: Invocation | null
  /** The arguments as the database has them, digit by digit; JavaScript would round some numbers. */
  readonly inputText: string | null
  /** As it is now, which is what would run; null where it has changed since it was asked for, and nothing can run. */
  readonly tool: RegisteredTool | null
  readonly run: { readonly name: string; readonly planText: string } | null
}

/** By its own id, or by that of what it is about: of several, the last. */
export const showQuestion = async ({ query }: Pick<Session, 'query'>, id: string): Promise<ShownQuestion> => {
  const [question] = await query<ShownQuestion['question']>(
    `select ${QUESTION_COLUMNS}, a.status from agents.approvals a where a.id = $1 or a.subject_id = $1 order ` +
      'by a.created_at desc limit 1',
    [id],
  )
  if (question === undefined) throw missing(`nothing is asked about ${id}, or it is not yours to see`)
  const votes = await query<Vote>(
    `select ${VOTE_COLUMNS} from agents.approval_votes v where v.approval_id = $1 order by v.at`,
    [question.id],
  )
  if (question.subjectKind === 'team_run') {
    const [run] = await query<{ name: string; planText: string }>(
      'select name, jsonb_pretty(plan) as "planText" from agents.team_runs where id = $1',
      [question.subjectId],
    )
    return { question, votes, invocation: null, inputText: null, tool: null, run: run ?? null }
  }
  const invocation = await requireInvocation({ query }, question.subjectId)
  const [input] = await query<{ text: string }>(
    'select jsonb_pretty(input) as text from agents.tool_invocations where id = $1 and created_at = ' +
      'agents.fn_time_of($1)',
    [invocation.id],
  )
  const [tool] = await query<RegisteredTool>(
    `select ${TOOL_COLUMNS} from agents.tools_registry where id = $1 and version = $2`,
    [invocation.toolId, invocation.toolVersion],
  )
  return { question, votes, invocation, inputText: input?.text ?? null, tool: tool ?? null, run: null }
}

/** `shownHash`: of the arguments, or of the plan, that the person saw. */
export const approveQuestion = async (
  session: Pick<Session, 'query'>,
  id: string,
  shownHash: string,
  reason?: string,
): Promise<string> => {
  const { question } = await showQuestion(session, id)
  if (question.subjectKind === 'tool_invocation')
    return approveInvocation(session, question.subjectId, shownHash, reason)
  return decideRun(session, question.subjectId, 'approve', reason, shownHash)
}

export const rejectQuestion = async (session: Pick<Session, 'query'>, id: string, reason: string): Promise<string> => {
  const { question } = await showQuestion(session, id)
  if (question.subjectKind === 'tool_invocation') return rejectInvocation(session, question.subjectId, reason)
  return decideRun(session, question.subjectId, 'reject', reason)
}

const decideRun = async (
  { query }: Pick<Session, 'query'>,
  id: string,
  verdict: 'approve' | 'reject',
  reason: string | undefined,
  shownHash?: string,
): Promise<string> =>
  (
    await query<{ status: string }>('select agents.fn_decide_team_run($1, $2, $3, $4) as status', [
      id,
      verdict,
      reason ?? null,
      shownHash ?? null,
    ])
  )[0]?.status ?? 'pending'

export interface StandingApproval {
  readonly toolId: string
  /** A JSON Schema that the arguments have to fit. */
  readonly arguments: object
  readonly uses: number
  readonly validMs: number
  readonly reason: string
  readonly agent?: string
}

export const approveInAdvance = async (
  { query }: Pick<Session, 'query'>,
  { toolId, arguments: form, uses, validMs, reason, agent }: StandingApproval,
): Promise<string> => {
  const [row] = await query<{ id: string }>(
    'select agents.fn_approve_in_advance($1, $2, $3, $4::interval, $5, $6) as id',
    [
      toolId,
      jsonText(form, 'the form of the arguments'),
      uses,
      `${String(validMs)} milliseconds`,
      reason,
      agent ?? null,
    ],
  )
  return row?.id ?? ''
}

export interface GivenInAdvance {
  readonly id: string
  readonly tool: string
  readonly toolVersion: number
  readonly agent: string | null
  readonly arguments: unknown
  readonly usesLeft: number
  readonly expiresAt: Date
  readonly author: string
  readonly reason: string
}

/** Those that still count. */
export const listStandingApprovals = (
  { query }: Pick<Session, 'query'>,
  team: string,
): Promise<readonly GivenInAdvance[]> =>
  query(
    `select s.id, t.key as tool, s.tool_version as "toolVersion", s.agent, s.arguments, s.uses_left as "usesLeft", s.expires_at as "expiresAt", s.author, s.reason
      from agents.standing_approvals s join agents.tools_registry t on t.id = s.tool_id
      where s.owner = $1 and s.id in (select agents.fn_standing_approvals($1)) order by s.created_at`,
    [team],
  )

export const revokeStandingApproval = async ({ query }: Pick<Session, 'query'>, id: string): Promise<void> => {
  await query('select agents.fn_revoke_standing_approval($1)', [id])
}
