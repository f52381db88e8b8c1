// Calls, questions, runs and the audit log as the registry answers them: their types, and the schemas of the API.
import { anything, called, count, fields, list, mapping, number, oneOf, orNull, text, yesOrNo } from 'cordon/shapes'

import { EGRESS_CLASS, TOOL, aTime, anId, digits, namedFields } from './team-answers.js'
import type { RowOf } from './team-answers.js'

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
export const RUN_STATES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const
export type InvocationStatus = (typeof INVOCATION_STATES)[number]
export type FinalStatus = Exclude<InvocationStatus, 'pending' | 'approved' | 'running'>

export const isFinal = (status: InvocationStatus): status is FinalStatus =>
  status !== 'pending' && status !== 'approved' && status !== 'running'

const STATUS = called('InvocationStatus', oneOf(...INVOCATION_STATES))

const CALL_PARTS = {
  id: anId(),
  owner: text(),
  teamRunId: orNull(anId()),
  toolId: anId(),
  tool: text(),
  toolVersion: count(),
  egressClass: EGRESS_CLASS,
  agent: text(),
  /** The caller, who may be another than the agent. */
  invokedBy: text(),
  inputHash: text(),
  /** How the output differs from the registered schema. Null where it fits, or there is no output. */
  outputProblem: orNull(text()),
  error: orNull(text()),
  status: STATUS,
  approvalRequired: yesOrNo(),
  approvalDecidedBy: orNull(text()),
  approvalReason: orNull(text()),
  runner: orNull(text()),
  /** The number of the claim. A completion has to name it. */
  fence: digits(),
  isCancelRequested: yesOrNo(),
  createdAt: aTime(),
  expiresAt: aTime(),
  startedAt: orNull(aTime()),
  completedAt: orNull(aTime()),
  /** From the caller, or from the registration of the tool. */
  costEstimate: orNull(number()),
  /** Computed by the database from the usage and the prices of the tool. Null where it cannot be computed. */
  costMeasured: orNull(number()),
  /** Reported by the runner. The larger of the two counts. */
  costReported: orNull(number()),
  /** The costs are far apart. Null where there is nothing to compare. */
  costDeviates: orNull(yesOrNo()),
}
/** A call without the parts that may be large, and with the beginning of its error. */
export const LISTED_CALL = namedFields('ListedCall', CALL_PARTS)
export type ListedCall = RowOf<typeof LISTED_CALL>
export const INVOCATION = namedFields('Invocation', {
  ...CALL_PARTS,
  input: anything(),
  output: anything(),
  usage: orNull(mapping()),
})
/** One call, as the database has it. */
export type Invocation = RowOf<typeof INVOCATION>

export const THE_ID = fields({ id: anId() })
export const THE_STATUS = fields({ status: STATUS })
/** The status of the call, or of the run, that the question is about. */
export const THE_DECISION = fields({ status: text() })

const QUESTION_PARTS = {
  id: anId(),
  owner: text(),
  subjectKind: oneOf('tool_invocation', 'team_run'),
  subjectId: anId(),
  argumentsHash: text(),
  askedBy: text(),
  why: text(),
  needed: count(),
  agreed: count(),
  expiresAt: aTime(),
  createdAt: aTime(),
  /** Null where the question is about a run. */
  tool: orNull(text()),
  toolVersion: orNull(count()),
  egressClass: orNull(text()),
  /** The agent of the call, or the member who started the run. */
  agent: text(),
  /** Since when the process that asked is silent. Null while it is heard, and where no process waits. */
  callerGoneSince: orNull(aTime()),
}
export const QUESTION = fields(QUESTION_PARTS)

export const VOTE = namedFields('Vote', {
  voter: text(),
  verdict: oneOf('approve', 'reject'),
  reason: orNull(text()),
  at: aTime(),
  /** The token that was used. Null for a login of the database, and for a member named at the socket of a server. */
  tokenId: orNull(anId()),
  tokenLabel: orNull(text()),
  tokenMadeBy: orNull(text()),
})
export type Vote = RowOf<typeof VOTE>

/** `waiting`: how many questions of the same agent wait in the team. */
export const LISTED_QUESTION = namedFields('Question', { ...QUESTION_PARTS, waiting: count() })
export type ListedQuestion = RowOf<typeof LISTED_QUESTION>
/** Everything that somebody has to see before they answer. */
export const SHOWN_QUESTION = namedFields('ShownQuestion', {
  question: fields({ ...QUESTION_PARTS, status: text() }),
  votes: list(VOTE),
  invocation: orNull(INVOCATION),
  /** The arguments as the database has them. JavaScript would round some numbers. */
  inputText: orNull(text()),
  /** Null where the tool has changed since the call was asked for. Then the call cannot run. */
  tool: orNull(TOOL),
  run: orNull(fields({ name: text(), planText: text() })),
})
export type ShownQuestion = RowOf<typeof SHOWN_QUESTION>

export const TEAM_RUN = namedFields('TeamRun', {
  id: anId(),
  owner: text(),
  name: text(),
  status: oneOf(...RUN_STATES),
  startedBy: text(),
  planHash: text(),
  expiresAt: aTime(),
  createdAt: aTime(),
})
export type TeamRun = RowOf<typeof TEAM_RUN>
export const SHOWN_RUN = namedFields('ShownRun', {
  run: TEAM_RUN,
  planText: text(),
  question: fields({ ...QUESTION_PARTS, status: text() }),
  votes: list(VOTE),
  /** Calls that the reader may see, newest first. */
  calls: list(
    fields({ id: anId(), tool: text(), agent: text(), step: orNull(text()), status: text(), createdAt: aTime() }),
  ),
})
export type ShownRun = RowOf<typeof SHOWN_RUN>
export const THE_RUN_STATUS = fields({ status: oneOf(...RUN_STATES) })

export const STANDING_APPROVAL = namedFields('StandingApproval', {
  id: anId(),
  tool: text(),
  toolVersion: count(),
  agent: orNull(text()),
  arguments: anything(),
  usesLeft: count(),
  expiresAt: aTime(),
  author: text(),
  reason: text(),
})

export const OUTPUT_STREAM = oneOf('stdout', 'stderr', 'progress')
export const OUTPUT_PAGE = namedFields('OutputPage', {
  /** `skipped`: characters before the chunk that are not shown. */
  chunks: list(fields({ stream: OUTPUT_STREAM, content: text(), skipped: count(), mark: text() })),
  /** The mark to go on after. It is the same as before where there is nothing new. */
  after: text(),
  status: STATUS,
  isOver: yesOrNo(),
})
export type OutputPage = RowOf<typeof OUTPUT_PAGE>

export const EXPLANATION = namedFields('Explanation', {
  invocation: INVOCATION,
  inputText: text(),
  /** Null where the tool has changed since the call was asked for. */
  tool: orNull(TOOL),
  questions: list(
    fields({
      id: anId(),
      status: text(),
      why: text(),
      needed: count(),
      createdAt: aTime(),
      decidedAt: orNull(aTime()),
    }),
  ),
  votes: list(VOTE),
  evaluations: list(fields({ at: aTime(), point: text(), type: text(), verdict: text(), reason: text() })),
  /** Only admins and operators see entries of the audit log. */
  events: list(
    fields({
      at: aTime(),
      type: text(),
      actor: text(),
      details: anything(),
      chain: count(),
      sequence: digits(),
      hash: text(),
    }),
  ),
})
export type Explanation = RowOf<typeof EXPLANATION>

export const ENTRY = fields({
  chain: count(),
  sequence: digits(),
  at: aTime(),
  owner: text(),
  subject: text(),
  type: text(),
  actor: text(),
  /** The JSON that the hash is computed from. */
  line: text(),
  previousHash: text(),
  hash: text(),
})
export const RECORD_PAGE = namedFields('RecordPage', { entries: list(ENTRY), after: text() })
export type RecordPage = RowOf<typeof RECORD_PAGE>
export const RECORD_PROBLEM = namedFields('RecordProblem', {
  owner: text(),
  chain: count(),
  sequence: digits(),
  problem: text(),
})
export type RecordProblem = RowOf<typeof RECORD_PROBLEM>
export const DROPPED_PARTITIONS = fields({ dropped: list(text()) })
