// Calls of a runtime in the registry of a team. The gate asks by a hook, people answer through the registry, and a run
// is claimed before it begins and completed when it has ended.
import { CordonError } from '../../errors/index.js'
import type { ApprovalAnswer, Hook, HookAnswer, HookEvent, JsonValue } from '../../gate/index.js'

import type { ApprovalRequest, Approve } from '../approvals.js'
import type { CallHandlers } from '../call-outcome.js'

import type { CallRegistry, RegistryDecision, RegistryEntry, RegistryWait } from './call-registry.js'
import { completionOf } from './completion.js'
import type { EndedRun } from './completion.js'
import { outcomeOf } from './elsewhere.js'
import type { Elsewhere, RemoteListening } from './elsewhere.js'

export interface RegisteredCalls {
  /** Nothing is started here: another host runs it, or it has ended before. */
  readonly isElsewhere: (callId: string) => boolean
  /** Asks the store before a call that everybody else lets run; the strictest answer counts, as with all hooks. */
  readonly hook: Hook
  /** Whether the store was asked about a call. */
  readonly isAsked: (callId: string) => boolean
  /** Waits for the store where it is the one that asks, and asks `local` otherwise. */
  readonly approve: (local: Approve | undefined) => Approve
  /** A call is about to be decided; `resume`: it was asked for before. Calls that are only tried are not expected. */
  readonly expect: (callId: string, expected: Pick<CallHandlers, 'resume' | 'askedWith' | 'onInvocation'>) => void
  /** Before it runs. The signal is aborted when it has to end. */
  readonly start: (callId: string) => Promise<AbortSignal>
  /** What came of it, instead of starting it. */
  readonly elsewhere: (callId: string, listening: RemoteListening) => Promise<Elsewhere>
  /** Which invocation it is. */
  readonly idOf: (callId: string) => string
  readonly complete: (callId: string, outcome: EndedRun) => Promise<void>
  /** Why the registry did not take it, where it did not. */
  readonly refusalOf: (callId: string) => CordonError | undefined
  /** It was not run after all. */
  readonly drop: (callId: string) => Promise<void>
}

interface Expected extends Pick<CallHandlers, 'resume' | 'askedWith' | 'onInvocation'> {
  entry: RegistryEntry | undefined
  decision: RegistryDecision | undefined
  hasStarted: boolean
  refusal: CordonError | undefined
}

const ASK_MS = 30_000
const NOBODY: ApprovalAnswer = {
  kind: 'deny',
  by: 'nobody',
  reason: 'the registry needs no approval, the rules of this runtime do, and there is nobody to ask',
}

/** With the input as it was asked about; an input that was changed is asked about again. */
const isYes = (answer: unknown): boolean =>
  typeof answer === 'object' &&
  answer !== null &&
  'kind' in answer &&
  (answer.kind === 'approve_once' || answer.kind === 'approve_for_scope')

export const createRegisteredCalls = (registry: CallRegistry): RegisteredCalls => {
  const calls = new Map<string, Expected>()

  /** What the registry says, or why it does not take the call. */
  const askFor = async (call: Expected, tool: string, input: JsonValue): Promise<RegistryDecision | RegistryWait> => {
    // Asked again: the input was edited, and what was asked for before is not what will run.
    await call.entry?.withdraw()
    try {
      call.entry = await registry.ask({
        tool,
        input,
        ...(call.resume === undefined ? {} : { resume: call.resume }),
        ...(call.askedWith === undefined ? {} : { askedWith: call.askedWith }),
      })
      call.onInvocation(call.entry.id)
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      call.refusal = error
      // The model reads this. What the error says of the host is in the facts.
      return { kind: 'denied', by: 'the registry', reason: error.agentMessage }
    }
    const now = await call.entry.now()
    if (now.kind !== 'waiting') call.decision = now
    return now
  }

  const answerOf = async ({ callId, tool, input }: HookEvent): Promise<HookAnswer> => {
    const call = calls.get(callId ?? '')
    if (call === undefined || tool === null) return {}
    const said = await askFor(call, tool, input)
    if (call.refusal !== undefined) throw call.refusal
    const auditRefs = call.entry === undefined ? [] : [call.entry.id]
    if (said.kind === 'waiting')
      return { decision: 'ask', reason: `${said.because} (${auditRefs.join('')})`, auditRefs }
    return said.kind === 'approved' ? { auditRefs } : { decision: 'deny', reason: said.reason }
  }

  /** Waits for those who are asked through the registry. */
  const waitFor = async (
    call: Expected & { readonly entry: RegistryEntry },
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> => {
    call.decision = await call.entry.decision(signal)
    return call.decision.kind === 'approved'
      ? { kind: 'approve_once', by: call.decision.by ?? 'the registry' }
      : { kind: 'deny', by: call.decision.by, reason: call.decision.reason }
  }

  /**
   * Rules of this runtime ask, and the registry was not asked yet: it is asked when nobody here can say no any more.
   */
  const approveHereFirst = async (
    call: Expected,
    local: Approve | undefined,
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const here = local === undefined ? undefined : await local(request, { signal })
    if (local !== undefined && !isYes(here)) return here
    const said = await askFor(call, request.tool, request.input)
    if (said.kind === 'denied') return { kind: 'deny', by: said.by, reason: said.reason }
    if (said.kind === 'waiting') {
      const there = await waitFor(started(request.callId), signal)
      return here !== undefined && there.kind === 'approve_once' ? here : there
    }
    return here ?? (said.by === null ? NOBODY : { kind: 'approve_once', by: said.by })
  }

  const started = (callId: string): Expected & { readonly entry: RegistryEntry } => {
    const call = calls.get(callId)
    if (call?.entry === undefined) throw new Error(`the call ${callId} is not in the registry`)
    return call as Expected & { readonly entry: RegistryEntry }
  }

  return {
    hook: {
      name: 'registry',
      points: ['pre_tool_use'],
      source: 'managed',
      timeout: ASK_MS,
      throwsDenials: true,
      run: answerOf,
    },
    isAsked: (callId) => calls.get(callId)?.entry !== undefined,
    isElsewhere: (callId) => {
      const decision = calls.get(callId)?.decision
      return registry.execution === 'runners' || (decision?.kind === 'approved' && decision.hasEnded)
    },
    expect: (callId, { resume, askedWith, onInvocation }) => {
      calls.set(callId, {
        resume,
        askedWith,
        onInvocation,
        entry: undefined,
        decision: undefined,
        hasStarted: false,
        refusal: undefined,
      })
    },
    approve: (local) => async (request, options) => {
      const call = calls.get(request.callId)
      if (call !== undefined && call.entry === undefined) return approveHereFirst(call, local, request, options.signal)
      if (call === undefined || call.decision !== undefined)
        return local === undefined ? NOBODY : local(request, options)
      return waitFor(started(request.callId), options.signal)
    },
    start: async (callId) => {
      const call = started(callId)
      await call.entry.start()
      call.hasStarted = true
      return call.entry.cancelled
    },
    elsewhere: async (callId, listening) => {
      const { entry } = started(callId)
      calls.delete(callId)
      return outcomeOf(await entry.ended(listening))
    },
    idOf: (callId) => started(callId).entry.id,
    complete: async (callId, run) => {
      const { entry } = started(callId)
      calls.delete(callId)
      await entry.complete(completionOf(run))
    },
    refusalOf: (callId) => calls.get(callId)?.refusal,
    drop: async (callId) => {
      const call = calls.get(callId)
      calls.delete(callId)
      if (call?.hasStarted === false) await call.entry?.withdraw()
    },
  }
}
