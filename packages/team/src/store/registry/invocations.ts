// Calls of tools: asked for, found, cancelled and completed.
import { CordonError } from 'cordon/errors'

import type { Queryable } from '../engine.js'
import { storeMissing } from '../engine/sql-error.js'
import { INVOCATION, LISTED_CALL } from './call-answers.js'
import type { Invocation, InvocationStatus } from './call-answers.js'
import { callFunction, callProcedure, columnsOf, jsonText, milliseconds } from './statements.js'

const CALL_EXPRESSIONS = {
  tool: 'tool_key',
  fence: 'fence::text',
  isCancelRequested: 'cancel_requested',
  costEstimate: 'cost_estimate::float8',
  costMeasured: 'cost_measured::float8',
  costReported: 'cost_reported::float8',
}

/** Columns of `agents.tool_invocations`. */
export const INVOCATION_COLUMNS = columnsOf(INVOCATION, CALL_EXPRESSIONS)
export const LISTED_COLUMNS = columnsOf(LISTED_CALL, { ...CALL_EXPRESSIONS, error: 'left(error, 1000)' })

export interface InvocationRequest {
  readonly toolId: string
  readonly agent: string
  readonly input: unknown
  readonly runId?: string
  readonly stepId?: string
  readonly costEstimate?: number
  /** How long the call may wait for its approval and its start. */
  readonly validMs?: number
  /** Who runs it (default: a runner). */
  readonly dispatch?: 'runners' | 'caller'
  /** Any UUID. Requests with the same one are one call. */
  readonly request?: string
}

export const invokeTool = async (
  session: Queryable,
  { toolId, agent, input, runId, stepId, costEstimate, validMs, dispatch, request }: InvocationRequest,
): Promise<string> =>
  recordingRefusals(session, toolId, agent, () =>
    callFunction(session, request === undefined ? 'fn_invoke_tool' : 'fn_invoke_tool_once', {
      request,
      run: runId ?? null,
      tool: toolId,
      agent,
      input: jsonText(input, 'the input'),
      step: stepId,
      costEstimate,
      valid: validMs === undefined ? undefined : milliseconds(validMs),
      dispatch,
    }),
  )

export interface BegunRequest extends Omit<InvocationRequest, 'dispatch'> {
  readonly request: string
  /** Of the registration that the caller compared with its own tool. The database refuses another one. */
  readonly version: number
  /** The process that runs the call. It has sent a heartbeat. */
  readonly runner: string
}

const DEFAULT_VALID_MS = 3_600_000

/** Asks for a call that the caller runs itself. It is claimed in the same transaction, if nobody has to be asked. */
export const beginInvocation = async (
  session: Queryable,
  { request, runId, toolId, version, agent, input, runner, stepId, costEstimate, validMs }: BegunRequest,
): Promise<Invocation> =>
  recordingRefusals(session, toolId, agent, async () => {
    const [begun] = await session.query<Invocation>(
      `select ${INVOCATION_COLUMNS} from agents.fn_begin_tool_invocation($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        ...[request, runId ?? null, toolId, version, agent, jsonText(input, 'the input'), runner],
        ...[stepId ?? null, costEstimate ?? null, milliseconds(validMs ?? DEFAULT_VALID_MS)],
      ],
    )
    return begun as Invocation
  })

/** The causes of a refusal (`fn_make_invocation` and the functions that it calls) that the audit log records. */
const CAUSES: ReadonlySet<unknown> = new Set(['assignment', 'profile', 'schema', 'budget', 'kill_switch', 'waiting'])

/** The error rolled back everything that was written with it, so the refusal is recorded afterwards. */
const recordingRefusals = async <Result>(
  session: Queryable,
  tool: string,
  agent: string,
  ask: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    const { detail: type } = Object(error.cause) as { readonly detail?: unknown }
    // Refused to strangers: the log of a team has no entries of theirs.
    if (CAUSES.has(type)) {
      const refusal = { tool, agent, type, reason: error.message }
      await callProcedure(session, 'fn_note_refusal', refusal).catch(() => undefined)
    }
    throw error
  }
}

/** One partition is read, because the id carries the time of the call. */
const BY_ID = 'from agents.tool_invocations where id = $1 and created_at = agents.fn_time_of($1)'

export const findInvocation = async ({ query }: Queryable, id: string): Promise<Invocation | undefined> =>
  (await query<Invocation>(`select ${INVOCATION_COLUMNS} ${BY_ID}`, [id]))[0]

export const requireInvocation = async (session: Queryable, id: string): Promise<Invocation> => {
  const found = await findInvocation(session, id)
  if (found === undefined) throw unknownInvocation(id)
  return found
}

export const requireStatus = async ({ query }: Queryable, id: string): Promise<InvocationStatus> => {
  const [call] = await query<{ status: InvocationStatus }>(`select status ${BY_ID}`, [id])
  if (call === undefined) throw unknownInvocation(id)
  return call.status
}

/** The input as the database has it, with all digits of its numbers. */
export const inputTextOf = async ({ query }: Queryable, id: string): Promise<string | undefined> =>
  (await query<{ text: string }>(`select jsonb_pretty(input) as text ${BY_ID}`, [id]))[0]?.text

const unknownInvocation = (id: string): CordonError =>
  storeMissing(`there is no invocation ${id}, or it is not yours to see`)

/** The hash is that of the shown arguments, so neither other arguments nor a later question is approved. */
export const approveInvocation = (
  session: Queryable,
  id: string,
  inputHash: string,
  reason?: string,
): Promise<InvocationStatus> => callFunction(session, 'fn_approve_tool_invocation', { id, reason, inputHash })

export const rejectInvocation = (session: Queryable, id: string, reason: string): Promise<InvocationStatus> =>
  callFunction(session, 'fn_reject_tool_invocation', { id, reason })

export const cancelInvocation = (session: Queryable, id: string, reason?: string): Promise<InvocationStatus> =>
  callFunction(session, 'fn_cancel_tool_invocation', { id, reason })

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
  session: Queryable,
  { id, fence }: Pick<Invocation, 'id' | 'fence'>,
  { status, output, error, cost, usage }: Completion,
): Promise<void> => {
  const text = (value: unknown): string | undefined =>
    value === undefined ? undefined : storable(jsonText(value, 'the result'))
  return callProcedure(session, 'fn_complete_tool_invocation', {
    id,
    status,
    output: text(output),
    error: error === undefined ? undefined : storableText(error.slice(0, MOST_ERROR_LETTERS)),
    cost,
    fence,
    usage: text(usage),
  })
}

/** Text that the database can store: without NUL and without halves of characters. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

// JSON writes both as escapes. An even number of backslashes before one are backslashes.
const UNSTORABLE = /(?<!\\)(?<pairs>(?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/g
const storable = (json: string): string => json.replace(UNSTORABLE, '$<pairs>\\ufffd')
