// The shapes of what is answered, in the words of the types of src/store.
import {
  anything,
  called,
  count,
  fields,
  list,
  mapping,
  matching,
  number,
  oneOf,
  orNull,
  such,
  text,
  valuesOf,
  yesOrNo,
} from '../../shapes/index.js'
import type { Shape } from '../../shapes/index.js'

import { INVOCATION_STATES } from '../registry/invocation.js'
import { AUTH_METHODS, PRICED } from '../registry/registry.js'
import { RUN_STATES } from '../registry/team-runs.js'

/** There is only that it was done. */
export const NOTHING: Shape<void> = such('nothing', (value) => value === undefined || value === null, {
  schema: { type: 'null' },
})

const anId = (): Shape<string> => text({ format: 'uuid' })
const aTime = (): Shape<string> => text({ format: 'date-time' })
/** Of more digits than a number of JSON keeps. */
const digits = (): Shape<string> => matching(/^\d+$/, 'digits')

const KINDS = list(oneOf('admin', 'operator', 'agent', 'runner'))
const EGRESS_CLASS = oneOf('none', 'read_only', 'write')
const STATUS = called('InvocationStatus', oneOf(...INVOCATION_STATES))

export const SELF = called('Self', fields({ actor: text(), teams: list(fields({ team: text(), kinds: KINDS })) }))
export const MEMBER = called('Member', fields({ actor: text(), kinds: KINDS }))
export const STOP = called(
  'Stop',
  fields({
    scope: oneOf('all', 'agent', 'tool', 'profile'),
    subject: text(),
    state: oneOf('kill', 'pause'),
    reason: text(),
    author: text(),
    since: aTime(),
  }),
)
export const PROFILE = called(
  'Profile',
  fields({
    name: text(),
    allowTools: orNull(list(text())),
    denyTools: list(text()),
    toolGroups: orNull(list(text())),
    askTools: list(text()),
    requiresApproval: yesOrNo(),
    isDefault: yesOrNo(),
  }),
)
export const BUDGET = called(
  'Budget',
  fields({
    scope: oneOf('agent', 'profile'),
    subject: text(),
    seconds: number(),
    maxCalls: orNull(number()),
    maxCost: orNull(number()),
    usedCalls: orNull(number()),
    usedCost: orNull(number()),
    until: aTime(),
  }),
)
export const WAITING_LIMIT = called('WaitingLimit', fields({ agent: orNull(text()), waiting: count() }))
export const CREDENTIAL = called(
  'Credential',
  fields({ ref: text(), keyId: text(), storedBy: text(), storedAt: aTime() }),
)
export const ISSUED_TOKEN = called(
  'IssuedToken',
  fields({
    id: anId(),
    team: text(),
    actor: text(),
    label: text(),
    createdBy: text(),
    createdAt: aTime(),
    expiresAt: aTime(),
    lastUsedAt: orNull(aTime()),
    revokedAt: orNull(aTime()),
  }),
)
export const NEW_TOKEN = called('NewToken', fields({ id: anId(), token: text() }))

export const TOOL = called(
  'Tool',
  fields({
    id: anId(),
    owner: text(),
    key: text(),
    name: text(),
    description: text(),
    category: text(),
    inputSchema: mapping(),
    outputSchema: orNull(mapping()),
    authMethod: oneOf(...AUTH_METHODS),
    egressClass: EGRESS_CLASS,
    requiresApproval: yesOrNo(),
    status: oneOf('active', 'disabled', 'deprecated'),
    definition: mapping(),
    version: count(),
    isDangerous: yesOrNo(),
    endpointUrl: orNull(text()),
    httpMethod: orNull(text()),
    credentialRef: orNull(text()),
    needsLabels: list(text()),
    needsBoundary: list(text()),
    approvalsNeeded: count(),
    expectedCost: orNull(number()),
    prices: orNull(valuesOf(number(), PRICED)),
  }),
)
export const ASSIGNMENT = called(
  'Assignment',
  fields({ agent: text(), tool: text(), profile: orNull(text()), isAllowed: yesOrNo() }),
)

const CALL_PARTS = {
  id: anId(),
  owner: text(),
  teamRunId: orNull(anId()),
  toolId: anId(),
  tool: text(),
  toolVersion: count(),
  egressClass: EGRESS_CLASS,
  agent: text(),
  invokedBy: text(),
  inputHash: text(),
  outputProblem: orNull(text()),
  error: orNull(text()),
  status: STATUS,
  approvalRequired: yesOrNo(),
  approvalDecidedBy: orNull(text()),
  approvalReason: orNull(text()),
  runner: orNull(text()),
  fence: digits(),
  isCancelRequested: yesOrNo(),
  createdAt: aTime(),
  expiresAt: aTime(),
  startedAt: orNull(aTime()),
  completedAt: orNull(aTime()),
  costEstimate: orNull(number()),
  costMeasured: orNull(number()),
  costReported: orNull(number()),
  costDeviates: orNull(yesOrNo()),
}
export const LISTED_CALL = called('ListedCall', fields(CALL_PARTS))
export const INVOCATION = called(
  'Invocation',
  fields({ ...CALL_PARTS, input: anything(), output: anything(), usage: orNull(mapping()) }),
)
export const THE_ID = fields({ id: anId() })
export const THE_STATUS = fields({ status: STATUS })
/** Of a question: of the call, or of the run, that it is about. */
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
  tool: orNull(text()),
  toolVersion: orNull(count()),
  egressClass: orNull(text()),
  agent: text(),
  callerGoneSince: orNull(aTime()),
}
const VOTE = called(
  'Vote',
  fields({
    voter: text(),
    verdict: oneOf('approve', 'reject'),
    reason: orNull(text()),
    at: aTime(),
    tokenId: orNull(anId()),
    tokenLabel: orNull(text()),
    tokenMadeBy: orNull(text()),
  }),
)
export const LISTED_QUESTION = called('Question', fields({ ...QUESTION_PARTS, waiting: count() }))
export const SHOWN_QUESTION = called(
  'ShownQuestion',
  fields({
    question: fields({ ...QUESTION_PARTS, status: text() }),
    votes: list(VOTE),
    invocation: orNull(INVOCATION),
    inputText: orNull(text()),
    tool: orNull(TOOL),
    run: orNull(fields({ name: text(), planText: text() })),
  }),
)
export const TEAM_RUN = called(
  'TeamRun',
  fields({
    id: anId(),
    owner: text(),
    name: text(),
    status: oneOf(...RUN_STATES),
    startedBy: text(),
    planHash: text(),
    expiresAt: aTime(),
    createdAt: aTime(),
  }),
)
export const SHOWN_RUN = called(
  'ShownRun',
  fields({
    run: TEAM_RUN,
    planText: text(),
    question: fields({ ...QUESTION_PARTS, status: text() }),
    votes: list(VOTE),
    calls: list(
      fields({ id: anId(), tool: text(), agent: text(), step: orNull(text()), status: text(), createdAt: aTime() }),
    ),
  }),
)
export const THE_RUN_STATUS = fields({ status: oneOf(...RUN_STATES) })
export const STANDING_APPROVAL = called(
  'StandingApproval',
  fields({
    id: anId(),
    tool: text(),
    toolVersion: count(),
    agent: orNull(text()),
    arguments: anything(),
    usesLeft: count(),
    expiresAt: aTime(),
    author: text(),
    reason: text(),
  }),
)

export const OUTPUT_PAGE = called(
  'OutputPage',
  fields({
    chunks: list(
      fields({ stream: oneOf('stdout', 'stderr', 'progress'), content: text(), skipped: count(), mark: text() }),
    ),
    after: text(),
    status: STATUS,
    isOver: yesOrNo(),
  }),
)
export const EXPLANATION = called(
  'Explanation',
  fields({
    invocation: INVOCATION,
    inputText: text(),
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
  }),
)

export const RECORD_PAGE = called(
  'RecordPage',
  fields({
    entries: list(
      fields({
        chain: count(),
        sequence: digits(),
        at: aTime(),
        owner: text(),
        subject: text(),
        type: text(),
        actor: text(),
        line: text(),
        previousHash: text(),
        hash: text(),
      }),
    ),
    after: text(),
  }),
)
export const RECORD_PROBLEM = called(
  'RecordProblem',
  fields({ owner: text(), chain: count(), sequence: digits(), problem: text() }),
)
export const DROPPED = fields({ dropped: list(text()) })
