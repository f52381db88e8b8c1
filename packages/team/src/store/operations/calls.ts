// Operations on calls, and on the questions about them.
import { amount, anything, list, oneOf, optional, whole, withoutUndefined, yesOrNo } from 'cordon/shapes'

import { markOf } from '../changes/changes.js'
import { LONGEST_CHUNK, appendOutput, readOutput } from '../changes/live-output.js'
import {
  approveInAdvance,
  approveQuestion,
  listQuestions,
  listStandingApprovals,
  rejectQuestion,
  showQuestion,
} from '../registry/approvals.js'
import {
  EXPLANATION,
  INVOCATION,
  INVOCATION_STATES,
  LISTED_CALL,
  LISTED_QUESTION,
  OUTPUT_PAGE,
  SHOWN_QUESTION,
  STANDING_APPROVAL,
  THE_DECISION,
  THE_ID,
  THE_STATUS,
  OUTPUT_STREAM,
} from '../registry/call-answers.js'
import type { OutputPage } from '../registry/call-answers.js'
import { explainInvocation, listInvocations } from '../registry/explanation.js'
import {
  beginInvocation,
  cancelInvocation,
  completeInvocation,
  invokeTool,
  requireInvocation,
} from '../registry/invocations.js'
import { requireTool } from '../registry/registry.js'
import { claimInvocations, sendHeartbeat } from '../registry/runners.js'
import { callProcedure } from '../registry/statements.js'
import {
  LONGEST_WAIT_SECONDS,
  MOST_ROWS,
  boundedList,
  boundedMapping,
  fence,
  filledText,
  hash,
  id,
  name,
  outputMark,
  runnerName,
  text,
  toolKey,
} from './field.js'
import {
  WRITE_AS,
  EVERYBODY,
  READ_AS_MEMBER,
  operationWithoutAnswer,
  isChangeOfIt,
  listOfTeam,
  operation,
} from './operation.js'

const MOST_CLAIMS = 100
const MOST_FACTS_LETTERS = 65_536

const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000)

/** What a call asks for. */
const REQUEST = {
  team: name(),
  tool: toolKey(),
  agent: name(),
  input: anything(),
  runId: optional(id()),
  stepId: optional(text(200)),
  costEstimate: optional(amount()),
  validSeconds: optional(whole(1, LONGEST_WAIT_SECONDS)),
}

export const CALLS = {
  listQuestions: operation({
    ...READ_AS_MEMBER,
    path: '/v1/teams/{team}/approvals',
    summary: 'pending questions: agents take turns, each with its oldest first; the next page is after the last id',
    fields: {
      team: name(),
      agent: optional(name()),
      tool: optional(toolKey()),
      olderSeconds: optional(whole(0, LONGEST_WAIT_SECONDS)),
      after: optional(id()),
      most: optional(whole(1, MOST_ROWS)),
    },
    answer: list(LISTED_QUESTION),
    isAbout: (_given, _notification, channel) => channel !== 'tool_invocation_output',
    perform: (asking, { olderSeconds, ...filter }) =>
      listQuestions(asking, withoutUndefined({ ...filter, olderMs: inMs(olderSeconds) })),
  }),
  showQuestion: operation({
    ...READ_AS_MEMBER,
    path: '/v1/approvals/{id}',
    summary: 'a question with everything that would run, by its id or that of its call',
    fields: { id: id() },
    answer: SHOWN_QUESTION,
    perform: (asking, given) => showQuestion(asking, given.id),
  }),
  approve: operation({
    ...WRITE_AS.operator,
    path: '/v1/approvals/{id}/approve',
    summary: 'approves exactly the arguments with this hash; callers cannot approve their own calls',
    fields: { id: id(), shownHash: hash(), reason: optional(text(2000)) },
    answer: THE_DECISION,
    perform: async (asking, given) => ({
      status: await approveQuestion(asking, given.id, given.shownHash, given.reason),
    }),
  }),
  reject: operation({
    ...WRITE_AS.operator,
    path: '/v1/approvals/{id}/reject',
    summary: 'rejects a question, with the reason',
    fields: { id: id(), reason: filledText(2000) },
    answer: THE_DECISION,
    perform: async (asking, given) => ({ status: await rejectQuestion(asking, given.id, given.reason) }),
  }),
  listStandingApprovals: listOfTeam(
    'standing-approvals',
    'standing approvals',
    STANDING_APPROVAL,
    listStandingApprovals,
  ),
  approveInAdvance: operation({
    ...WRITE_AS.operator,
    path: '/v1/teams/{team}/standing-approvals',
    summary: 'approves calls in advance: arguments that fit this schema, this often, for this long',
    fields: {
      team: name(),
      tool: toolKey(),
      arguments: boundedMapping(MOST_FACTS_LETTERS),
      uses: whole(1, 1_000_000),
      validSeconds: whole(1, 366 * 86_400),
      reason: filledText(2000),
      agent: optional(name()),
    },
    answer: THE_ID,
    perform: async (asking, { team, tool, validSeconds, ...given }) => ({
      id: await approveInAdvance(asking, {
        ...given,
        toolId: (await requireTool(asking, team, tool)).id,
        validMs: validSeconds * 1000,
      }),
    }),
  }),
  revokeStandingApproval: operationWithoutAnswer({
    ...WRITE_AS.operatorOrAdmin,
    method: 'DELETE',
    path: '/v1/standing-approvals/{id}',
    summary: 'revokes a standing approval',
    fields: { id: id() },
    perform: (asking, given) => callProcedure(asking, 'fn_revoke_standing_approval', { id: given.id }),
  }),
  invoke: operation({
    ...WRITE_AS.agent,
    path: '/v1/teams/{team}/invocations',
    summary: 'asks for a call, as the caller',
    fields: { ...REQUEST, request: optional(id()), dispatch: optional(oneOf('runners', 'caller')) },
    answer: THE_ID,
    perform: async (asking, { team, tool, validSeconds, input, ...given }) => ({
      id: await invokeTool(asking, {
        ...given,
        input,
        toolId: (await requireTool(asking, team, tool)).id,
        ...withoutUndefined({ validMs: inMs(validSeconds) }),
      }),
    }),
  }),
  begin: operation({
    ...WRITE_AS.agent,
    path: '/v1/runners/{runner}/calls',
    summary: 'asks for a call that the caller runs itself, and claims it unless people have to be asked',
    fields: {
      ...REQUEST,
      runner: runnerName(),
      version: whole(1, Number.MAX_SAFE_INTEGER),
      request: id(),
    },
    answer: INVOCATION,
    perform: async (asking, { team, tool, validSeconds, input, ...given }) =>
      beginInvocation(asking, {
        ...given,
        input,
        toolId: (await requireTool(asking, team, tool)).id,
        ...withoutUndefined({ validMs: inMs(validSeconds) }),
      }),
  }),
  listInvocations: operation({
    ...READ_AS_MEMBER,
    path: '/v1/teams/{team}/invocations',
    summary: 'calls, newest first, without input and output: an agent sees its own',
    fields: {
      team: name(),
      status: optional(oneOf(...INVOCATION_STATES)),
      agent: optional(name()),
      tool: optional(toolKey()),
      profile: optional(name()),
      after: optional(id()),
      most: optional(whole(1, MOST_ROWS)),
    },
    answer: list(LISTED_CALL),
    perform: listInvocations,
  }),
  findInvocation: operation({
    ...READ_AS_MEMBER,
    path: '/v1/invocations/{id}',
    summary: 'a call',
    fields: { id: id() },
    answer: INVOCATION,
    isAbout: isChangeOfIt,
    perform: (asking, given) => requireInvocation(asking, given.id),
  }),
  readOutput: operation({
    ...READ_AS_MEMBER,
    path: '/v1/invocations/{id}/output',
    summary: 'recent output of a running call, after a mark; the whole output is in its result',
    fields: { id: id(), after: optional(outputMark()) },
    answer: OUTPUT_PAGE,
    isAbout: (given, notification) => notification === markOf(given.id),
    growth: {
      items: ({ chunks }: OutputPage) => chunks.map(({ mark, ...item }) => ({ mark, item })),
      goOn: (given, after) => ({ ...given, after }),
      end: ({ isOver, status }: OutputPage) => (isOver ? { status } : undefined),
    },
    perform: (asking, given): Promise<OutputPage> => readOutput(asking, given.id, given.after),
  }),
  explainInvocation: operation({
    method: 'GET',
    path: '/v1/invocations/{id}/explanation',
    summary: 'a call with its rules, its answers and its entries of the audit log',
    role: 'cordon_operator',
    who: EVERYBODY,
    fields: { id: id() },
    answer: EXPLANATION,
    perform: (asking, given) => explainInvocation(asking, given.id),
  }),
  cancelInvocation: operation({
    ...WRITE_AS.starter,
    path: '/v1/invocations/{id}/cancel',
    summary: 'cancels a call; a running one is asked to end',
    fields: { id: id(), reason: optional(text(2000)) },
    answer: THE_STATUS,
    perform: async (asking, given) => ({ status: await cancelInvocation(asking, given.id, given.reason) }),
  }),
  heartbeat: operationWithoutAnswer({
    ...WRITE_AS.runner,
    path: '/v1/runners/{runner}/heartbeat',
    summary: 'reports that a runner is alive, and which mechanisms its host has',
    fields: {
      runner: runnerName(),
      labels: optional(boundedList(text(128))),
      holds: optional(boundedList(text(128))),
      isDraining: optional(yesOrNo()),
      leaseMs: optional(whole(1_000, 3_600_000)),
    },
    perform: (asking, { runner, labels = [], holds = [], isDraining = false, leaseMs }) =>
      sendHeartbeat(asking, withoutUndefined({ name: runner, labels, holds, isDraining, leaseMs })),
  }),
  claim: operation({
    ...WRITE_AS.runner,
    path: '/v1/runners/{runner}/claims',
    summary: 'claims approved calls for a runner, each for one; an agent claims its own by their id',
    fields: { runner: runnerName(), id: optional(id()), most: optional(whole(1, MOST_CLAIMS)) },
    answer: list(INVOCATION),
    perform: (asking, { runner, id: wanted, most = 1 }) =>
      claimInvocations(asking, runner, wanted === undefined ? { most } : { id: wanted }),
  }),
  appendOutput: operationWithoutAnswer({
    ...WRITE_AS.runner,
    path: '/v1/invocations/{id}/output',
    summary: 'appends output of a call, with the fence of its claim',
    fields: {
      id: id(),
      fence: fence(),
      stream: OUTPUT_STREAM,
      content: text(LONGEST_CHUNK),
      skipped: optional(whole(0, Number.MAX_SAFE_INTEGER)),
    },
    perform: (asking, { id: of, fence: claimed, stream, content, skipped = 0 }) =>
      appendOutput(asking, { id: of, fence: claimed }, { stream, content, skipped }),
  }),
  complete: operationWithoutAnswer({
    ...WRITE_AS.runner,
    path: '/v1/invocations/{id}/completion',
    summary: 'the result of a call, once, with the fence of its claim',
    takesAnyDouble: true,
    fields: {
      id: id(),
      fence: fence(),
      status: oneOf('completed', 'failed'),
      output: optional(anything()),
      error: optional(text()),
      cost: optional(amount()),
      usage: optional(boundedMapping(MOST_FACTS_LETTERS)),
    },
    perform: (asking, { id: of, fence: claimed, ...completion }) =>
      completeInvocation(asking, { id: of, fence: claimed }, completion),
  }),
} as const
