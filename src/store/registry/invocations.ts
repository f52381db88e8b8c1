import { CordonError } from '../../errors/index.js'

import type { Session } from '../engine.js'
import { INVOCATION_COLUMNS } from './invocation.js'
import type { Invocation, InvocationStatus } from './invocation.js'
import { jsonText } from './json-text.js'
import { missing } from '../engine/ways-out.js'

export interface InvocationRequest {
  readonly toolId: string
  readonly agent: string
  readonly input: unknown
  readonly teamRunId?: string
  readonly stepId?: string
  readonly costEstimate?: number
  /** How long the call may wait for its approval and its start. */
  readonly validMs?: number
  /** Who runs it; any runner that can, when left out. */
  readonly dispatch?: 'runners' | 'caller'
  /** Any UUID: asked for twice with the same one, it is one call. */
  readonly request?: string
}

const HOUR_MS = 3_600_000

export const invokeTool = async (
  { query }: Pick<Session, 'query'>,
  {
    toolId,
    agent,
    input,
    teamRunId,
    stepId,
    costEstimate,
    validMs = HOUR_MS,
    dispatch = 'runners',
    request,
  }: InvocationRequest,
): Promise<string> => {
  const values = [
    teamRunId ?? null,
    toolId,
    agent,
    jsonText(input, 'the input'),
    stepId ?? null,
    costEstimate ?? null,
    `${String(validMs)} milliseconds`,
    dispatch,
  ]
  const [row] = await noting({ query }, toolId, agent, () =>
    request === undefined
      ? query<{ id: string }>(
          'select agents.fn_invoke_tool($1, $2, $3, $4, $5, $6, $7::interval, p_dispatch => $8) as id',
          values,
        )
      : query<{ id: string }>('select agents.fn_invoke_tool_once($9, $1, $2, $3, $4, $5, $6, $7::interval, $8) as id', [
          ...values,
          request,
        ]),
  )
  return row?.id ?? ''
}

/** The causes of a refusal (`sql/0006_invoking.sql`) that the audit log records. */
const CAUSES: ReadonlySet<unknown> = new Set(['assignment', 'profile', 'schema', 'budget', 'kill_switch', 'waiting'])

/** The error took back everything that was written with it; that it was refused is on the record nevertheless. */
const noting = async <Result>(
  { query }: Pick<Session, 'query'>,
  toolId: string,
  agent: string,
  ask: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await ask()
  } catch (error) {
    const cause =
      error instanceof CordonError && typeof error.cause === 'object' && error.cause !== null && 'detail' in error.cause
        ? error.cause.detail
        : undefined
    if (error instanceof CordonError && CAUSES.has(cause)) {
      // Not even a member: what strangers say is not for the record of a team.
      await query('select agents.fn_note_refusal($1, $2, $3, $4)', [toolId, agent, cause, error.message]).catch(
        () => undefined,
      )
    }
    throw error
  }
}

export const findInvocation = async ({ query }: Pick<Session, 'query'>, id: string): Promise<Invocation | undefined> =>
  // The id carries its time: one partition is looked into.
  (
    await query<Invocation>(
      `select ${INVOCATION_COLUMNS} from agents.tool_invocations where id = $1 and created_at = agents.fn_time_of($1)`,
      [id],
    )
  )[0]

export const requireInvocation = async (session: Pick<Session, 'query'>, id: string): Promise<Invocation> => {
  const found = await findInvocation(session, id)
  if (found === undefined) throw missing(`there is no invocation ${id}, or it is not yours to see`)
  return found
}

/**
 * With the hash of the question that was shown to the person who says yes: neither other arguments nor a later question
 * is answered by it.
 */
export const approveInvocation = (
  { query }: Pick<Session, 'query'>,
  id: string,
  shownHash: string,
  reason?: string,
): Promise<InvocationStatus> =>
  statusFrom(query('select agents.fn_approve_tool_invocation($1, $2, $3) as status', [id, reason ?? null, shownHash]))

export const rejectInvocation = (
  { query }: Pick<Session, 'query'>,
  id: string,
  reason: string,
): Promise<InvocationStatus> =>
  statusFrom(query('select agents.fn_reject_tool_invocation($1, $2) as status', [id, reason]))

export const cancelInvocation = (
  { query }: Pick<Session, 'query'>,
  id: string,
  reason?: string,
): Promise<InvocationStatus> =>
  statusFrom(query('select agents.fn_cancel_tool_invocation($1, $2) as status', [id, reason ?? null]))

const statusFrom = async (rows: Promise<readonly { readonly status: InvocationStatus }[]>): Promise<InvocationStatus> =>
  (await rows)[0]?.status ?? 'pending'

export interface Completion {
  readonly status: 'completed' | 'failed'
  readonly output?: unknown
  readonly error?: string
  readonly cost?: number
  /** Measured by the cell: wall, CPU, memory, bytes. */
  readonly usage?: object
}

/** The database takes a megabyte of it. */
const MOST_ERROR_LETTERS = 200_000

export const completeInvocation = async (
  { query }: Pick<Session, 'query'>,
  { id, fence }: Pick<Invocation, 'id' | 'fence'>,
  { status, output, error, cost, usage }: Completion,
): Promise<void> => {
  const text = (value: unknown): string | null => (value === undefined ? null : storable(jsonText(value, 'the result')))
  await query('select agents.fn_complete_tool_invocation($1, $2, $3, $4, $5, $6, $7)', [
    id,
    status,
    text(output),
    error === undefined ? null : shownText(error.slice(0, MOST_ERROR_LETTERS)),
    cost ?? null,
    fence,
    text(usage),
  ])
}

/** Text as the database can keep it: it has no NUL, and no halves of characters. */
export const shownText = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

// In JSON both are written as escapes; an even number of backslashes before one are backslashes.
const UNSTORABLE = /(?<!\\)(?<pairs>(?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/g
const storable = (json: string): string => json.replace(UNSTORABLE, '$<pairs>\\ufffd')
