/** One call of a tool, as the database has it. */
export interface Invocation {
  readonly id: string
  readonly owner: string
  readonly teamRunId: string | null
  readonly toolId: string
  readonly tool: string
  readonly toolVersion: number
  readonly egressClass: 'none' | 'read_only' | 'write'
  readonly agent: string
  /** Who asked, where that is somebody else than the agent. */
  readonly invokedBy: string
  readonly input: unknown
  readonly inputHash: string
  readonly output: unknown
  /** How it differs from what the tool was registered to give; null where it does not, or nothing was said. */
  readonly outputProblem: string | null
  readonly error: string | null
  /** Measured by the cell that ran it, and what that cell was. */
  readonly usage: Readonly<Record<string, unknown>> | null
  /** What who asked, or the registration, said that it would cost. */
  readonly costEstimate: number | null
  /** By the database, from what was measured and the prices of the tool; null where that cannot be told. */
  readonly costMeasured: number | null
  /** What its runner said by itself. The larger one counts. */
  readonly costReported: number | null
  /**
   * It is far from its estimate, or what the runner says from what was measured; null where there is nothing to hold it
   * against.
   */
  readonly costDeviates: boolean | null
  readonly status: InvocationStatus
  readonly approvalRequired: boolean
  readonly approvalDecidedBy: string | null
  readonly approvalReason: string | null
  readonly runner: string | null
  /** Who completes a call has to know the fence that it was claimed with. */
  readonly fence: string
  readonly isCancelRequested: boolean
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly startedAt: Date | null
  readonly completedAt: Date | null
}

export const INVOCATION_STATES = [
  'pending',
  'approved',
  'running',
  'completed',
  'failed',
  'rejected',
  'expired',
  'cancelled',
] as const
export type InvocationStatus = (typeof INVOCATION_STATES)[number]
export type FinalStatus = 'completed' | 'failed' | 'rejected' | 'expired' | 'cancelled'

const FINAL: ReadonlySet<InvocationStatus> = new Set<FinalStatus>([
  'completed',
  'failed',
  'rejected',
  'expired',
  'cancelled',
])
export const isFinal = (status: InvocationStatus): status is FinalStatus => FINAL.has(status)

/** A call without what may be large: what went in, what came out, what it used; of its error the beginning. */
export type ListedCall = Omit<Invocation, 'input' | 'output' | 'usage'>

const PLAIN_COLUMNS = `id, owner, team_run_id as "teamRunId", tool_id as "toolId", tool_key as "tool", tool_version as "toolVersion", egress_class as "egressClass",
  agent, invoked_by as "invokedBy", input_hash as "inputHash", output_problem as "outputProblem", status, approval_required as "approvalRequired", approval_decided_by as "approvalDecidedBy",
  approval_reason as "approvalReason", runner, fence::text, cancel_requested as "isCancelRequested", created_at as "createdAt", expires_at as "expiresAt",
  started_at as "startedAt", completed_at as "completedAt",
  cost_estimate::float8 as "costEstimate", cost_measured::float8 as "costMeasured", cost_reported::float8 as "costReported", cost_deviates as "costDeviates"`

/** What is selected of `agents.tool_invocations`, in the words of `Invocation`. */
export const INVOCATION_COLUMNS = `${PLAIN_COLUMNS}, input, output, error, usage`
/** In those of `ListedCall`. */
export const LISTED_COLUMNS = `${PLAIN_COLUMNS}, left(error, 1000) as error`
