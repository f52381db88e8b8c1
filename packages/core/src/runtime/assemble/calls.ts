// The calls of a runtime: by name, by a model, streamed, resumed, or only decided.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

import { fail } from '../../errors/index.js'
import { readBoundedJson } from '../../gate/index.js'
import type { ApprovalGrant, GateCall } from '../../gate/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import { NOBODY_LISTENS } from '../call-outcome.js'
import type { CallHandlers } from '../call-outcome.js'
import type { CallServices } from '../call/call-services.js'
import { streamCall } from '../call/call-stream.js'
import type { CallTurns } from '../call/call-turns.js'
import { performCall } from '../call/life-of-a-call.js'
import { refuseUnconfinable, UNCONFINED } from '../call/unconfined-tool.js'
import { callTool } from '../call/second-attempt.js'
import type { Widener } from '../call/second-attempt.js'
import type { CallOptions, CordonOptions, ResumeOptions } from '../cordon-options.js'
import type { Cordon } from '../cordon.js'
import type { ToolResult } from '../result/tool-result.js'
import { checkCallOptions, checkResumeOptions, checkUnconfinedOptions } from '../settings/check-options.js'
import type { Session, Sessions } from '../settings/sessions.js'
import { decisiveAnswer, lifetimeOf, takeTicket } from '../suspend/suspended-call.js'
import { needsCell } from '../tools/bound-tool.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolDefinition, ToolOfKind } from '../tools/tools.js'

interface CallParts {
  readonly options: CordonOptions
  readonly services: CallServices
  readonly sessions: Sessions
  /** In the mode on_failure. */
  readonly widener: () => Widener | undefined
  readonly turns: CallTurns
  /** Only `runUnconfined` uses it. */
  readonly unconfined: {
    readonly runner: CallServices['runner']
    readonly twinOf: (tool: BoundTool) => BoundTool
  }
  /** The tool that a model means. */
  readonly nameOf: (modelName: string) => string
}

interface Calls extends Pick<Cordon, 'callStream' | 'callFromModel' | 'resume' | 'evaluate' | 'runUnconfined'> {
  readonly call: (name: string, input?: unknown, options?: CallOptions) => Promise<ToolResult>
  readonly count: () => number
  readonly requireOpen: () => void
  /** Refuses further calls. False if that happened before. */
  readonly close: () => boolean
  /** Waits for the calls that run. */
  readonly ended: () => Promise<unknown>
}

const MAIN_SESSION = 'main'

export const createCalls = ({ options, services, sessions, widener, turns, unconfined, nameOf }: CallParts): Calls => {
  const { gate, registeredCalls, suspension, tools } = services
  const running = new Set<Promise<ToolResult>>()
  let count = 0
  let closed = false
  const canSuspend = suspension === undefined ? {} : { mayAsk: true, questionLifetime: lifetimeOf(suspension) }

  const requireOpen = (): void => {
    if (closed) throw fail('runtime-closed', {})
  }
  const gateCall = (
    name: string,
    input: unknown,
    session: Session,
    given: readonly ApprovalGrant[] = [],
    callId: string = randomUUID(),
  ): GateCall => ({
    callId,
    tool: name,
    input,
    count: session.count,
    requestedBy: options.requestedBy ?? 'agent',
    approvals: session.approvals(given),
    ...adviceFor(tools.get(name), options),
  })
  const doesNeedCell = (name: string): boolean => {
    const tool = tools.get(name)
    return tool !== undefined && needsCell(tool)
  }
  const perform = (call: GateCall, handlers: CallHandlers): Promise<ToolResult> =>
    counted(() =>
      doesNeedCell(call.tool)
        ? turns.take(handlers.signal, (turn) => callTool(services, call, { ...handlers, turn }, widener))
        : callTool(services, call, handlers, widener),
    )
  const counted = async (begin: () => Promise<ToolResult>): Promise<ToolResult> => {
    requireOpen()
    count += 1
    const result = begin()
    running.add(result)
    try {
      return await result
    } finally {
      running.delete(result)
    }
  }
  const callNamed = async (
    name: string,
    given: Pick<GateCall, 'input' | 'inputProblem'>,
    asked: CallOptions = {},
  ): Promise<ToolResult> => {
    checkCallOptions(asked, { hasRegistry: registeredCalls !== undefined, hasTickets: suspension !== undefined })
    const { session = MAIN_SESSION, approvals, invocation, registry: askedWith, onInvocation, onAsk } = asked
    const own = sessions.of(session)
    const isSuspending = onAsk === 'suspend'
    return perform(
      { ...gateCall(name, given.input, own, approvals), ...given, ...(isSuspending ? canSuspend : {}) },
      {
        ...handlersOf(asked, session),
        isSuspending,
        onApproved: own.keep,
        resume: invocation,
        askedWith,
        ...withoutUndefined({ onInvocation }),
      },
    )
  }

  return {
    call: (name, input = {}, given) => callNamed(name, { input }, given),
    callStream: (name, input = {}, given = {}) =>
      streamCall((listeners) => callNamed(name, { input }, { ...given, ...listeners }), given.signal),
    callFromModel: ({ name, arguments: given }, asked) => callNamed(nameOf(name), readModelInput(given), asked),
    resume: async (text, given, asked = {}) => {
      checkResumeOptions(asked)
      requireOpen()
      if (suspension === undefined)
        throw fail('ticket-refused', {
          problem: 'cannot be read without a key',
          fix: 'give createCordon tickets: { key }',
        })
      const answer = given === undefined ? undefined : decisiveAnswer(given)
      const ticket = takeTicket(text, answer, asked.expected, suspension)
      const { tool, input, session, callId, invocation } = ticket
      const own = sessions.of(session)
      return perform(
        { ...gateCall(tool, input, own, [], callId), ...canSuspend },
        {
          ...handlersOf(asked, session),
          isSuspending: true,
          resumed: { ticket, answer },
          onApproved: own.keep,
          resume: invocation ?? undefined,
        },
      )
    },
    runUnconfined: async (name, input = {}, asked = {}) => {
      checkUnconfinedOptions(asked)
      const { session = MAIN_SESSION } = asked
      const own = sessions.of(session)
      const tool = tools.get(name)
      if (tool !== undefined) refuseUnconfinable(tool, registeredCalls !== undefined)
      const twin = tool === undefined ? undefined : unconfined.twinOf(tool)
      const call: GateCall = {
        ...gateCall(name, input, own),
        mayAsk: services.approval !== undefined,
        widening: UNCONFINED,
      }
      return counted(async () => {
        // A person answers for each call: a script that was approved may be another one by the next.
        const plain = { ...services, runner: unconfined.runner }
        return (await performCall(plain, call, handlersOf(asked, session), twin)).result
      })
    },
    evaluate: (name, input = {}, { session = MAIN_SESSION } = {}) =>
      gate.decide({ ...gateCall(name, input, sessions.trial(session)), ...canSuspend, isTrial: true }),
    count: () => count,
    requireOpen,
    close: () => {
      const isFirst = !closed
      closed = true
      return isFirst
    },
    ended: () => Promise.allSettled(running),
  }
}

const handlersOf = (
  { signal, onProgress, onOutput, onLog, attachment }: ResumeOptions,
  session: string,
): CallHandlers => ({
  ...NOBODY_LISTENS,
  ...withoutUndefined({ onProgress, onLog }),
  signal,
  onOutput,
  attachment,
  session,
})

const READS_ONLY =
  'if it only reads, say so in its policy: egress_class: "read_only", which lets only GET, HEAD and OPTIONS pass'

/** What would allow a refused call, or let somebody approve it. `cordon why` shows these lines. */
const adviceFor = (
  tool: BoundTool | undefined,
  options: CordonOptions,
): Pick<GateCall, 'waysToAllow' | 'waysToApprove'> => {
  if (tool === undefined) return {}
  const { definition, gate } = tool
  const ways = () => (definition.kind === 'mcp' ? waysInGateway(definition, options) : waysInCode(definition))
  const isAsking = options.approve === undefined
  const waysToAllow = () => {
    const { rule, asking, trusting } = ways()
    return [...rule, ...(isAsking ? [asking] : []), ...trusting]
  }
  const waysToApprove = () => [ways().asking, ...(gate.boundary.network.kind === 'none' ? [] : [READS_ONLY])]
  return isAsking ? { waysToAllow, waysToApprove } : { waysToAllow }
}

/** Tools of MCP servers are offered by `cordon mcp`, whose user has files and options, and no code. */
const waysInGateway = (
  { name, hasPolicy, policyFix }: ToolOfKind<'mcp'>,
  { mode, configFolder = '~/.config/cordon' }: CordonOptions,
) => ({
  rule: [
    ...(policyFix === undefined ? [] : [policyFix]),
    `add to the rules in ${join(configFolder, 'rules.yaml')}: ` +
      `- { effect: allow, tool: ${JSON.stringify(name)}, because: say why }`,
  ],
  asking: 'let the person at the client approve it: cordon mcp --ask client',
  trusting: hasPolicy && mode !== 'on_request' ? ['let its sandbox be enough: cordon mcp --mode on_request'] : [],
})

const waysInCode = ({ name, kind }: ToolDefinition) => ({
  rule: [
    'add a rule that allows it, best with a condition: createCordon({ rules: [{ rules: [{ effect: "allow", ' +
      `tool: ${JSON.stringify(name)}, because: "…" }] }], … })`,
  ],
  asking:
    'let somebody answer: createCordon({ approve: async ({ tool, input, reason }) => ({ kind: ' +
    '"approve_once", by: "ann" }), … })',
  trusting: kind === 'in-process' ? [] : ['let its sandbox be enough: createCordon({ mode: "on_request", … })'],
})

const ARGUMENT_LIMITS = { bytes: 16 << 20, elements: 200_000, depth: 128 }

/** Arguments of a model may be text. */
const readModelInput = (given: unknown): { readonly input: unknown; readonly inputProblem?: string } => {
  if (given === undefined || given === '') return { input: {} }
  if (typeof given !== 'string') return { input: given }
  const parsed = readBoundedJson(Buffer.from(given), ARGUMENT_LIMITS, 'unique')
  return parsed.kind === 'json' ? { input: parsed.value } : { input: null, inputProblem: parsed.problem }
}
