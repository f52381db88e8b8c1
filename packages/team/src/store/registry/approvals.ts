// Questions to people about calls and runs, their answers, and standing approvals.
import type { Queryable } from '../engine.js'
import { storeMissing } from '../engine/sql-error.js'
import { QUESTION, STANDING_APPROVAL, VOTE } from './call-answers.js'
import type { ListedQuestion, ShownQuestion, Vote } from './call-answers.js'
import { approveInvocation, inputTextOf, rejectInvocation, requireInvocation } from './invocations.js'
import { findVersion } from './registry.js'
import { callFunction, columnsOf, conditionsOf, jsonText, listFrom, milliseconds } from './statements.js'

/**
 * When the process that asked was last heard, if it is gone. A process that runs its calls itself is heard six times in
 * its lease (own-host.ts), so after half of it three times are missing. It was heard before it asked, so processes that
 * began later did not ask. One that began earlier and is still heard may be the caller. While the server was down
 * nobody could be heard.
 */
const CALLER_GONE = `(select max(r.last_seen) from agents.runners r
  where r.actor = a.agent and r.team in ('', a.owner) and r.first_seen <= a.created_at and r.last_seen + r.lease >= a.created_at
  having max(greatest(r.last_seen, pg_postmaster_start_time()) + r.lease / 2) < clock_timestamp()
    and agents.fn_runs_at_caller(a.subject_id))`

const QUESTION_COLUMNS = columnsOf(
  QUESTION,
  { agreed: 'agents.fn_agreed(a.id)', tool: 'a.tool_key', callerGoneSince: CALLER_GONE },
  'a.',
)

export const VOTE_COLUMNS = columnsOf(VOTE, {}, 'v.')

export interface QuestionFilter {
  readonly team?: string
  readonly agent?: string
  readonly tool?: string
  /** Only questions that have waited this long. */
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
  { query }: Queryable,
  { team, agent, tool, olderMs, after, most = 100 }: QuestionFilter = {},
): Promise<readonly ListedQuestion[]> => {
  const { text, values } = conditionsOf([
    ['a.owner = ?', team],
    ['a.agent = ?', agent],
    ['a.tool_key = ?', tool],
    ['a.created_at <= now() - ?::interval', olderMs === undefined ? undefined : milliseconds(olderMs)],
    ['(a.turn, a.id) > (select l.turn, l.id from agents.approvals l where l.id = ?)', after],
  ])
  const page = await query<ListedQuestion>(
    `with waiting as (select owner, agent, count(*)::int as waiting from agents.approvals where ${OPEN}${team === undefined ? '' : ' and owner = $1'} group by owner, agent)
      select ${QUESTION_COLUMNS}, w.waiting from (select * from agents.approvals where ${OPEN}) a join waiting w on w.owner = a.owner and w.agent = a.agent
      ${text === '' ? '' : `where ${text}`} order by a.turn, a.id limit $${String(values.length + 1)}`,
    [...values, most],
  )
  // An unknown id is an error, not the end of the list.
  if (
    page.length === 0 &&
    after !== undefined &&
    (await query('select from agents.approvals where id = $1', [after])).length === 0
  )
    throw storeMissing(`there is no question ${after}, or it is not yours to see`, 'begin with the first page again')
  return page
}

/** By the id of the question, of its call or of its run. If there are several, the last one. */
export const showQuestion = async ({ query }: Queryable, id: string): Promise<ShownQuestion> => {
  const [question] = await query<ShownQuestion['question']>(
    `select ${QUESTION_COLUMNS}, a.status from agents.approvals a where a.id = $1 or a.subject_id = $1 order ` +
      'by a.created_at desc limit 1',
    [id],
  )
  if (question === undefined) throw storeMissing(`nothing is asked about ${id}, or it is not yours to see`)
  const votes = await query<Vote>(
    `select ${VOTE_COLUMNS} from agents.approval_votes v where v.approval_id = $1 order by v.at`,
    [question.id],
  )
  const { subjectKind, subjectId } = question
  if (subjectKind === 'team_run') {
    const [run] = await query<{ name: string; planText: string }>(
      'select name, jsonb_pretty(plan) as "planText" from agents.team_runs where id = $1',
      [subjectId],
    )
    return { question, votes, invocation: null, inputText: null, tool: null, run: run ?? null }
  }
  const invocation = await requireInvocation({ query }, subjectId)
  return {
    question,
    votes,
    invocation,
    inputText: (await inputTextOf({ query }, subjectId)) ?? null,
    tool: await findVersion({ query }, invocation),
    run: null,
  }
}

/** `shownHash` is the hash of the arguments, or of the plan, that the person saw. */
export const approveQuestion = async (
  session: Queryable,
  id: string,
  shownHash: string,
  reason?: string,
): Promise<string> => {
  const { subjectKind, subjectId } = (await showQuestion(session, id)).question
  return subjectKind === 'tool_invocation'
    ? approveInvocation(session, subjectId, shownHash, reason)
    : callFunction(session, 'fn_decide_team_run', { id: subjectId, verdict: 'approve', reason, planHash: shownHash })
}

export const rejectQuestion = async (session: Queryable, id: string, reason: string): Promise<string> => {
  const { subjectKind, subjectId } = (await showQuestion(session, id)).question
  return subjectKind === 'tool_invocation'
    ? rejectInvocation(session, subjectId, reason)
    : callFunction(session, 'fn_decide_team_run', { id: subjectId, verdict: 'reject', reason })
}

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
  session: Queryable,
  { toolId, arguments: form, uses, validMs, reason, agent }: StandingApproval,
): Promise<string> =>
  callFunction(session, 'fn_approve_in_advance', {
    tool: toolId,
    arguments: jsonText(form, 'the form of the arguments'),
    uses,
    valid: milliseconds(validMs),
    reason,
    agent,
  })

/** Those that are still valid. */
export const listStandingApprovals = listFrom(
  STANDING_APPROVAL,
  `agents.standing_approvals s join agents.tools_registry t on t.id = s.tool_id
    where s.owner = $1 and s.id in (select agents.fn_standing_approvals($1)) order by s.created_at`,
  { tool: 't.key' },
  's.',
)
