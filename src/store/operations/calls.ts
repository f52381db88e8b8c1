// Calls, and what people say about them.
import { amount, anything, list, oneOf, optional, whole, yesOrNo } from '../../shapes/index.js'
import {
  approveInAdvance,
  approveQuestion,
  listQuestions,
  listStandingApprovals,
  rejectQuestion,
  revokeStandingApproval,
  showQuestion,
} from '../registry/approvals.js'
import { markOf } from '../changes/changes.js'
import { explainInvocation, listInvocations } from '../registry/explanation.js'
import { INVOCATION_STATES } from '../registry/invocation.js'
import { cancelInvocation, completeInvocation, invokeTool, requireInvocation } from '../registry/invocations.js'
import { LONGEST_CHUNK, appendOutput, readOutput } from '../changes/live-output.js'
import type { OutputPage } from '../changes/live-output.js'
import { requireTool } from '../registry/registry.js'
import { claimInvocations, sendHeartbeat } from '../registry/runners.js'

import {
  EXPLANATION,
  INVOCATION,
  LISTED_CALL,
  LISTED_QUESTION,
  NOTHING,
  OUTPUT_PAGE,
  SHOWN_QUESTION,
  STANDING_APPROVAL,
  THE_DECISION,
  THE_ID,
  THE_STATUS,
} from './answers.js'
import {
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
import { EVERYBODY, isChangeOfIt, operation } from './operation.js'

const MOST_ROWS = 1000
const MOST_CLAIMS = 100
const MOST_FACTS_LETTERS = 65_536
const LONGEST_WAIT_SECONDS = 30 * 86_400

export const CALLS = {
  listQuestions: operation({
    method: 'GET',
    path: '/v1/teams/{team}/approvals',
    summary:
      'what people are asked about now: agents take turns, each with its oldest question first; the next ' +
      'page is after the last id',
    role: 'cordon_agent',
    who: EVERYBODY,
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
      listQuestions(asking, { ...filter, ...(olderSeconds === undefined ? {} : { olderMs: olderSeconds * 1000 }) }),
  }),
  showQuestion: operation({
    method: 'GET',
    path: '/v1/approvals/{id}',
    summary: 'a question with everything that would run, by its id or by that of the call',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { id: id() },
    answer: SHOWN_QUESTION,
    perform: (asking, given) => showQuestion(asking, given.id),
  }),
  approve: operation({
    method: 'POST',
    path: '/v1/approvals/{id}/approve',
    summary: 'yes to exactly what was shown, by the hash of it; never to what one asked for oneself',
    role: 'cordon_operator',
    who: ['operator'],
    fields: { id: id(), shownHash: hash(), reason: optional(text(2000)) },
    answer: THE_DECISION,
    perform: async (asking, given) => ({
      status: await approveQuestion(asking, given.id, given.shownHash, given.reason),
    }),
  }),
  reject: operation({
    method: 'POST',
    path: '/v1/approvals/{id}/reject',
    summary: 'no, and why',
    role: 'cordon_operator',
    who: ['operator'],
    fields: { id: id(), reason: filledText(2000) },
    answer: THE_DECISION,
    perform: async (asking, given) => ({ status: await rejectQuestion(asking, given.id, given.reason) }),
  }),
  listStandingApprovals: operation({
    method: 'GET',
    path: '/v1/teams/{team}/standing-approvals',
    summary: 'what is approved in advance',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(STANDING_APPROVAL),
    perform: (asking, { team }) => listStandingApprovals(asking, team),
  }),
  approveInAdvance: operation({
    method: 'POST',
    path: '/v1/teams/{team}/standing-approvals',
    summary: 'a yes in advance: arguments of this form, this often, until then',
    role: 'cordon_operator',
    who: ['operator'],
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
  revokeStandingApproval: operation({
    method: 'DELETE',
    path: '/v1/standing-approvals/{id}',
    summary: 'takes a yes in advance back',
    role: 'cordon_operator',
    who: ['operator', 'admin'],
    fields: { id: id() },
    answer: NOTHING,
    perform: (asking, given) => revokeStandingApproval(asking, given.id),
  }),
  invoke: operation({
    method: 'POST',
    path: '/v1/teams/{team}/invocations',
    summary: "asks for a call, in one's own name",
    role: 'cordon_agent',
    who: ['agent'],
    fields: {
      team: name(),
      tool: toolKey(),
      agent: name(),
      input: anything(),
      runId: optional(id()),
      stepId: optional(text(200)),
      costEstimate: optional(amount()),
      validSeconds: optional(whole(1, LONGEST_WAIT_SECONDS)),
      request: optional(id()),
      dispatch: optional(oneOf('runners', 'caller')),
    },
    answer: THE_ID,
    perform: async (asking, { team, tool, agent, input, runId, validSeconds, ...given }) => {
      const { id: toolId } = await requireTool(asking, team, tool)
      return {
        id: await invokeTool(asking, {
          toolId,
          agent,
          input,
          ...given,
          ...(runId === undefined ? {} : { teamRunId: runId }),
          ...(validSeconds === undefined ? {} : { validMs: validSeconds * 1000 }),
        }),
      }
    },
  }),
  listInvocations: operation({
    method: 'GET',
    path: '/v1/teams/{team}/invocations',
    summary: 'calls, the newest first, without what went in and came out: an agent sees its own',
    role: 'cordon_agent',
    who: EVERYBODY,
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
    method: 'GET',
    path: '/v1/invocations/{id}',
    summary: 'a call',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { id: id() },
    answer: INVOCATION,
    isAbout: isChangeOfIt,
    perform: (asking, given) => requireInvocation(asking, given.id),
  }),
  readOutput: operation({
    method: 'GET',
    path: '/v1/invocations/{id}/output',
    summary: 'what a call says while it runs, after a mark: the last of it, for a while; the whole is in its result',
    role: 'cordon_agent',
    who: EVERYBODY,
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
    summary: 'a call with what held it, who said what, and its record',
    role: 'cordon_operator',
    who: EVERYBODY,
    fields: { id: id() },
    answer: EXPLANATION,
    perform: (asking, given) => explainInvocation(asking, given.id),
  }),
  cancelInvocation: operation({
    method: 'POST',
    path: '/v1/invocations/{id}/cancel',
    summary: 'cancels a call; a running one is asked to end',
    role: 'cordon_agent',
    who: ['agent', 'operator', 'admin'],
    fields: { id: id(), reason: optional(text(2000)) },
    answer: THE_STATUS,
    perform: async (asking, given) => ({ status: await cancelInvocation(asking, given.id, given.reason) }),
  }),
  heartbeat: operation({
    method: 'POST',
    path: '/v1/runners/{runner}/heartbeat',
    summary: 'a runner is there, and what its host can hold',
    role: 'cordon_runner',
    who: ['runner', 'agent'],
    fields: {
      runner: runnerName(),
      labels: optional(boundedList(text(128))),
      holds: optional(boundedList(text(128))),
      isDraining: optional(yesOrNo()),
      leaseMs: optional(whole(1_000, 3_600_000)),
    },
    answer: NOTHING,
    perform: (asking, { runner, labels = [], holds = [], isDraining = false, leaseMs }) =>
      sendHeartbeat(asking, { name: runner, labels, holds, isDraining, ...(leaseMs === undefined ? {} : { leaseMs }) }),
  }),
  claim: operation({
    method: 'POST',
    path: '/v1/runners/{runner}/claims',
    summary: 'approved calls for a runner, each for one; an agent takes its own by their id',
    role: 'cordon_runner',
    who: ['runner', 'agent'],
    fields: { runner: runnerName(), id: optional(id()), most: optional(whole(1, MOST_CLAIMS)) },
    answer: list(INVOCATION),
    perform: (asking, { runner, id: wanted, most = 1 }) =>
      claimInvocations(asking, runner, wanted === undefined ? { most } : { id: wanted }),
  }),
  appendOutput: operation({
    method: 'POST',
    path: '/v1/invocations/{id}/output',
    summary: 'something that a call says, by who runs it, with the fence of its claim',
    role: 'cordon_runner',
    who: ['runner', 'agent'],
    fields: {
      id: id(),
      fence: fence(),
      stream: oneOf('stdout', 'stderr', 'progress'),
      content: text(LONGEST_CHUNK),
      skipped: optional(whole(0, Number.MAX_SAFE_INTEGER)),
    },
    answer: NOTHING,
    perform: (asking, { id: of, fence: claimed, stream, content, skipped = 0 }) =>
      appendOutput(asking, { id: of, fence: claimed }, { stream, content, skipped }),
  }),
  complete: operation({
    method: 'POST',
    path: '/v1/invocations/{id}/completion',
    summary: 'the result of a call, once, with the fence of its claim',
    role: 'cordon_runner',
    who: ['runner', 'agent'],
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
    answer: NOTHING,
    perform: (asking, { id: of, fence: claimed, ...completion }) =>
      completeInvocation(asking, { id: of, fence: claimed }, completion),
  }),
} as const
