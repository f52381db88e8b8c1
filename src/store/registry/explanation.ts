// Why a call of the store is in the state that it is in: what was asked, what held, who said what, what happened when.
import { CordonError } from '../../errors/index.js'

import { VOTE_COLUMNS } from './approvals.js'
import type { Vote } from './approvals.js'
import type { Session } from '../engine.js'
import { LISTED_COLUMNS } from './invocation.js'
import type { Invocation, ListedCall } from './invocation.js'
import { requireInvocation } from './invocations.js'
import { TOOL_COLUMNS } from './registry.js'
import type { RegisteredTool } from './registry.js'

type Asking = Pick<Session, 'query'>

export interface Explanation {
  readonly invocation: Invocation
  readonly inputText: string
  /** As it was when it was asked for; null where it has changed since. */
  readonly tool: RegisteredTool | null
  readonly questions: readonly {
    readonly id: string
    readonly status: string
    readonly why: string
    readonly needed: number
    readonly createdAt: Date
    readonly decidedAt: Date | null
  }[]
  readonly votes: readonly Vote[]
  readonly evaluations: readonly {
    readonly at: Date
    readonly point: string
    readonly type: string
    readonly verdict: string
    readonly reason: string
  }[]
  /** Nothing for who is neither admin nor operator. */
  readonly events: readonly {
    readonly at: Date
    readonly type: string
    readonly actor: string
    readonly details: unknown
    readonly chain: number
    readonly sequence: string
    readonly hash: string
  }[]
}

export const explainInvocation = async ({ query }: Asking, id: string): Promise<Explanation> => {
  const invocation = await requireInvocation({ query }, id)
  const [input] = await query<{ text: string }>(
    'select jsonb_pretty(input) as text from agents.tool_invocations where id = $1 and created_at = ' +
      'agents.fn_time_of($1)',
    [id],
  )
  const [tool] = await query<RegisteredTool>(
    `select ${TOOL_COLUMNS} from agents.tools_registry where id = $1 and version = $2`,
    [invocation.toolId, invocation.toolVersion],
  )
  return {
    invocation,
    inputText: input?.text ?? '',
    tool: tool ?? null,
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

/** A login of an agent may not look into the record at all. */
const noneIfRefused = (error: unknown): readonly never[] => {
  if (error instanceof CordonError && error.code === 'store-refused') return []
  throw error
}

export interface CallFilter {
  readonly team: string
  readonly status?: string
  readonly agent?: string
  readonly tool?: string
  readonly profile?: string
  /** The id of the last call of the page before. */
  readonly after?: string
  readonly most?: number
}

/**
 * The newest first. Only what is asked for is in the statement: of few that run among many that ran, an index knows.
 */
export const listInvocations = (
  { query }: Asking,
  { team, status, agent, tool, profile, after, most = 50 }: CallFilter,
): Promise<readonly ListedCall[]> => {
  const conditions = (
    [
      ['owner = ?', team],
      ['status = ?', status],
      ['agent = ?', agent],
      ['tool_key = ?', tool],
      ['profile_id = (select p.id from agents.tool_profiles p where p.owner = $1 and p.name = ?)', profile],
      ['(created_at, id) < (agents.fn_time_of(?), ?::uuid)', after],
    ] as const
  ).flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]))
  return query(
    `select ${LISTED_COLUMNS} from agents.tool_invocations where ${conditions.map(({ condition }, at) => condition.replaceAll('?', `$${String(at + 1)}`)).join(' and ')}
      order by created_at desc, id desc limit $${String(conditions.length + 1)}`,
    [...conditions.map(({ value }) => value), most],
  )
}
