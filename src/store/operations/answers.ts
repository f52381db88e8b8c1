// The shapes of what is answered, in the words of the types of src/store.
import { INVOCATION_STATES } from '../registry/invocation.js'
import { AUTH_METHODS, PRICED } from '../registry/registry.js'
import { RUN_STATES } from '../registry/team-runs.js'

import { aCount, aMapping, aNumber, aText, aTime, aWord, anId, anything, called, digits, made, manyOf, orNull, someOf, yes } from './shape.js'

const KINDS = manyOf(aWord('admin', 'operator', 'agent', 'runner'))
const EGRESS_CLASS = aWord('none', 'read_only', 'write')
const STATUS = called('InvocationStatus', aWord(...INVOCATION_STATES))

export const SELF = called('Self', made({ actor: aText(), teams: manyOf(made({ team: aText(), kinds: KINDS })) }))
export const MEMBER = called('Member', made({ actor: aText(), kinds: KINDS }))
export const STOP = called('Stop', made({ scope: aWord('all', 'agent', 'tool', 'profile'), subject: aText(), state: aWord('kill', 'pause'), reason: aText(), author: aText(), since: aTime() }))
export const PROFILE = called('Profile', made({ name: aText(), allowTools: orNull(manyOf(aText())), denyTools: manyOf(aText()), toolGroups: orNull(manyOf(aText())), askTools: manyOf(aText()), requiresApproval: yes(), isDefault: yes() }))
export const BUDGET = called('Budget', made({ scope: aWord('agent', 'profile'), subject: aText(), seconds: aNumber(), maxCalls: orNull(aNumber()), maxCost: orNull(aNumber()), usedCalls: orNull(aNumber()), usedCost: orNull(aNumber()), until: aTime() }))
export const WAITING_LIMIT = called('WaitingLimit', made({ agent: orNull(aText()), waiting: aCount() }))
export const CREDENTIAL = called('Credential', made({ ref: aText(), keyId: aText(), storedBy: aText(), storedAt: aTime() }))
export const ISSUED_TOKEN = called('IssuedToken', made({ id: anId(), team: aText(), actor: aText(), label: aText(), createdBy: aText(), createdAt: aTime(), expiresAt: aTime(), lastUsedAt: orNull(aTime()), revokedAt: orNull(aTime()) }))
export const NEW_TOKEN = called('NewToken', made({ id: anId(), token: aText() }))

export const TOOL = called('Tool', made({
  id: anId(), owner: aText(), key: aText(), name: aText(), description: aText(), category: aText(), inputSchema: aMapping(), outputSchema: orNull(aMapping()), authMethod: aWord(...AUTH_METHODS), egressClass: EGRESS_CLASS, requiresApproval: yes(), status: aWord('active', 'disabled', 'deprecated'),
  definition: aMapping(), version: aCount(), isDangerous: yes(), endpointUrl: orNull(aText()), httpMethod: orNull(aText()), credentialRef: orNull(aText()), needsLabels: manyOf(aText()), needsBoundary: manyOf(aText()), approvalsNeeded: aCount(),
  expectedCost: orNull(aNumber()), prices: orNull(someOf(PRICED, aNumber())),
}))
export const ASSIGNMENT = called('Assignment', made({ agent: aText(), tool: aText(), profile: orNull(aText()), isAllowed: yes() }))

const CALL_PARTS = {
  id: anId(), owner: aText(), teamRunId: orNull(anId()), toolId: anId(), tool: aText(), toolVersion: aCount(), egressClass: EGRESS_CLASS, agent: aText(), invokedBy: aText(), inputHash: aText(), outputProblem: orNull(aText()), error: orNull(aText()),
  status: STATUS, approvalRequired: yes(), approvalDecidedBy: orNull(aText()), approvalReason: orNull(aText()), runner: orNull(aText()), fence: digits(), isCancelRequested: yes(),
  createdAt: aTime(), expiresAt: aTime(), startedAt: orNull(aTime()), completedAt: orNull(aTime()),
  costEstimate: orNull(aNumber()), costMeasured: orNull(aNumber()), costReported: orNull(aNumber()), costDeviates: orNull(yes()),
}
export const LISTED_CALL = called('ListedCall', made(CALL_PARTS))
export const INVOCATION = called('Invocation', made({ ...CALL_PARTS, input: anything(), output: anything(), usage: orNull(aMapping()) }))
export const THE_ID = made({ id: anId() })
export const THE_STATUS = made({ status: STATUS })
/** Of a question: of the call, or of the run, that it is about. */
export const THE_DECISION = made({ status: aText() })

const QUESTION_PARTS = {
  id: anId(), owner: aText(), subjectKind: aWord('tool_invocation', 'team_run'), subjectId: anId(), argumentsHash: aText(), askedBy: aText(), why: aText(), needed: aCount(), agreed: aCount(), expiresAt: aTime(), createdAt: aTime(),
  tool: orNull(aText()), toolVersion: orNull(aCount()), egressClass: orNull(aText()), agent: aText(), callerGoneSince: orNull(aTime()),
}
const VOTE = called('Vote', made({ voter: aText(), verdict: aWord('approve', 'reject'), reason: orNull(aText()), at: aTime(), tokenId: orNull(anId()), tokenLabel: orNull(aText()), tokenMadeBy: orNull(aText()) }))
export const LISTED_QUESTION = called('Question', made({ ...QUESTION_PARTS, waiting: aCount() }))
export const SHOWN_QUESTION = called('ShownQuestion', made({
  question: made({ ...QUESTION_PARTS, status: aText() }), votes: manyOf(VOTE), invocation: orNull(INVOCATION), inputText: orNull(aText()), tool: orNull(TOOL), run: orNull(made({ name: aText(), planText: aText() })),
}))
export const TEAM_RUN = called('TeamRun', made({ id: anId(), owner: aText(), name: aText(), status: aWord(...RUN_STATES), startedBy: aText(), planHash: aText(), expiresAt: aTime(), createdAt: aTime() }))
export const SHOWN_RUN = called('ShownRun', made({
  run: TEAM_RUN, planText: aText(), question: made({ ...QUESTION_PARTS, status: aText() }), votes: manyOf(VOTE),
  calls: manyOf(made({ id: anId(), tool: aText(), agent: aText(), step: orNull(aText()), status: aText(), createdAt: aTime() })),
}))
export const THE_RUN_STATUS = made({ status: aWord(...RUN_STATES) })
export const STANDING_APPROVAL = called('StandingApproval', made({ id: anId(), tool: aText(), toolVersion: aCount(), agent: orNull(aText()), arguments: anything(), usesLeft: aCount(), expiresAt: aTime(), author: aText(), reason: aText() }))

export const OUTPUT_PAGE = called('OutputPage', made({
  chunks: manyOf(made({ stream: aWord('stdout', 'stderr', 'progress'), content: aText(), skipped: aCount(), mark: aText() })), after: aText(), status: STATUS, isOver: yes(),
}))
export const EXPLANATION = called('Explanation', made({
  invocation: INVOCATION, inputText: aText(), tool: orNull(TOOL),
  questions: manyOf(made({ id: anId(), status: aText(), why: aText(), needed: aCount(), createdAt: aTime(), decidedAt: orNull(aTime()) })),
  votes: manyOf(VOTE),
  evaluations: manyOf(made({ at: aTime(), point: aText(), type: aText(), verdict: aText(), reason: aText() })),
  events: manyOf(made({ at: aTime(), type: aText(), actor: aText(), details: anything(), chain: aCount(), sequence: digits(), hash: aText() })),
}))

export const RECORD_PAGE = called('RecordPage', made({
  entries: manyOf(made({ chain: aCount(), sequence: digits(), at: aTime(), owner: aText(), subject: aText(), type: aText(), actor: aText(), line: aText(), previousHash: aText(), hash: aText() })),
  after: aText(),
}))
export const RECORD_PROBLEM = called('RecordProblem', made({ owner: aText(), chain: aCount(), sequence: digits(), problem: aText() }))
export const DROPPED = made({ dropped: manyOf(aText()) })
