// Why a call of the registry is in its state: arguments, rules, answers of people, entries of the audit log.
import { CordonError } from 'cordon/errors'

import type { Queryable } from '../engine.js'
import { VOTE_COLUMNS } from './approvals.js'
import type { Explanation, ListedCall } from './call-answers.js'
import { LISTED_COLUMNS, inputTextOf, requireInvocation } from './invocations.js'
import { findVersion } from './registry.js'
import { conditionsOf } from './statements.js'

export const explainInvocation = async ({ query }: Queryable, id: string): Promise<Explanation> => {
  const invocation = await requireInvocation({ query }, id)
  const inputText = (await inputTextOf({ query }, id)) ?? ''
  const tool = await findVersion({ query }, invocation)
  return {
    invocation,
    inputText,
    tool,
    questions: await query(
      'select id, status, why, needed, created_at as "createdAt", decided_at as "decidedAt" from ' +
        'agents.approvals where subject_id = $1 order by created_at',
      [id],
    ),
    votes: await query(
      `select ${VOTE_COLUMNS} from agents.approval_votes v join agents.approvals a on a.id = v.approval_id ` +
        'where a.subject_id = $1 order by v.at',
      [id],
    ),
    evaluations: await query(
      'select at, point, type, verdict, reason from agents.policy_evaluations where invocation_id = $1 order by at',
      [id],
    ),
    events: await query<Explanation['events'][number]>(
      `select at, type, actor, line::jsonb -> 'details' as details, chain, sequence::text, hash from agents.audit_events
      where (subject = $1 or (subject = $3 and owner = $4 and type = 'credential.resolved' and line::jsonb #>> '{details,invocation}' = $2::text)) and at >= agents.fn_time_of($2::uuid) - interval '1 minute' order by at, sequence`,
      [`invocation:${id}`, id, `credential:${tool?.credentialRef ?? ''}`, invocation.owner],
    ).catch(noneIfRefused),
  }
}

/** The login of an agent may not read the log at all. */
const noneIfRefused = (error: unknown): readonly never[] => {
  if (error instanceof CordonError && error.code === 'store-refused') return []
  throw error
}

interface CallFilter {
  readonly team: string
  readonly status?: string
  readonly agent?: string
  readonly tool?: string
  readonly profile?: string
  /** The id of the last call of the page before. */
  readonly after?: string
  readonly most?: number
}

/** Newest first. Only conditions with a value are in the statement, so that an index finds the few running calls. */
export const listInvocations = (
  { query }: Queryable,
  { team, status, agent, tool, profile, after, most = 50 }: CallFilter,
): Promise<readonly ListedCall[]> => {
  const { text, values } = conditionsOf([
    ['owner = ?', team],
    ['status = ?', status],
    ['agent = ?', agent],
    ['tool_key = ?', tool],
    ['profile_id = (select p.id from agents.tool_profiles p where p.owner = $1 and p.name = ?)', profile],
    ['(created_at, id) < (agents.fn_time_of(?), ?::uuid)', after],
  ])
  return query(
    `select ${LISTED_COLUMNS} from agents.tool_invocations where ${text}
      order by created_at desc, id desc limit $${String(values.length + 1)}`,
    [...values, most],
  )
}
