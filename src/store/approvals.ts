import type { Session } from './engine.js'

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
}

export const listQuestions = ({ query }: Pick<Session, 'query'>, most = 100): Promise<readonly OpenQuestion[]> =>
  query(
    `select a.id, a.owner, a.subject_kind as "subjectKind", a.subject_id as "subjectId", a.arguments_hash as "argumentsHash", a.asked_by as "askedBy", a.why, a.needed,
      (select count(*)::int from agents.approval_votes v where v.approval_id = a.id and v.verdict = 'approve') as agreed, a.expires_at as "expiresAt", a.created_at as "createdAt"
      from agents.approvals a where a.status = 'pending' and a.expires_at > now() order by a.created_at limit $1`,
    [most],
  )

export interface StandingApproval {
  readonly toolId: string
  /** A JSON Schema that the arguments have to fit. */
  readonly arguments: object
  readonly uses: number
  readonly validMs: number
  readonly reason: string
  readonly agent?: string
}

export const approveInAdvance = async ({ query }: Pick<Session, 'query'>, { toolId, arguments: form, uses, validMs, reason, agent }: StandingApproval): Promise<string> => {
  const [row] = await query<{ id: string }>('select agents.fn_approve_in_advance($1, $2, $3, $4::interval, $5, $6) as id', [toolId, JSON.stringify(form), uses, `${String(validMs)} milliseconds`, reason, agent ?? null])
  return row?.id ?? ''
}
