// Calls of a runtime in a team's registry. The gate asks the registry by a hook, people answer there, and a call is
// claimed before it runs and completed after it.
import { CordonError, fail } from '../../errors/index.js'
import type { ApprovalAnswer, Hook, HookAnswer, HookEvent, JsonValue } from '../../gate/index.js'
import { isMapping, withoutUndefined } from '../../shapes/index.js'

import type { ApprovalRequest, Approve } from '../approvals.js'
import type { CallHandlers } from '../call-outcome.js'

import type {
  CallRegistry,
  Elsewhere,
  EndedRun,
  RegistryDecision,
  RegistryEntry,
  RegistryRequest,
  RegistryWait,
  RemoteListening,
} from './call-registry.js'

export interface RegisteredCalls {
  /** True if another runner runs the call, or has run it before. */
  readonly isElsewhere: (callId: string) => boolean
  /** Asks the registry after all other hooks let the call run. The strictest answer counts, as with all hooks. */
  readonly hook: Hook
  /** Waits for the registry if it asks people, and asks `local` otherwise. */
  readonly approve: (local: Approve | undefined) => Approve
  /** Called before a call is decided. Trials are not expected, so the registry is not asked about them. */
  readonly expect: (callId: string, expected: Registered) => void
  /** Claims the call, and returns its id in the registry. The signal is aborted when it has to end. */
  readonly start: (callId: string) => Promise<{ readonly invocation: string; readonly cancelled: AbortSignal }>
  /** Waits for the outcome of a call that another runner runs. */
  readonly elsewhere: (callId: string, listening: RemoteListening) => Promise<Elsewhere>
  readonly complete: (callId: string, outcome: EndedRun) => Promise<void>
  /** Why the registry refused the call. */
  readonly refusalOf: (callId: string) => CordonError | undefined
  /** Asks the registry, if it was not asked before. Undefined: people there have not answered yet. */
  readonly answerNow: (callId: string, tool: string, input: JsonValue) => Promise<ApprovalAnswer | undefined>
  /** The call waits in the registry without this process. Returns its id there. */
  readonly leave: (callId: string) => string | null
  /** The call does not run. */
  readonly drop: (callId: string) => Promise<void>
}

type Registered = Pick<CallHandlers, 'resume' | 'askedWith' | 'onInvocation'>

interface Expected extends Registered {
  entry: RegistryEntry | undefined
  decision: RegistryDecision | undefined
  hasStarted: boolean
  isDropped: boolean
  refusal: CordonError | undefined
}

const ASK_MS = 30_000
const NOBODY: ApprovalAnswer = {
  kind: 'deny',
  by: 'nobody',
  reason: 'the registry needs no approval, the rules of this runtime do, and there is nobody to ask',
}

/** `unasked`: where nobody had to be asked. */
const answerOf = (decision: RegistryDecision, unasked: ApprovalAnswer): ApprovalAnswer => {
  if (decision.kind === 'denied') return { kind: 'deny', by: decision.by, reason: decision.reason }
  return decision.by === null ? unasked : { kind: 'approve_once', by: decision.by }
}

/** An answer that changes the input is no approval: the changed call is asked about again. */
const isYes = (answer: unknown): boolean =>
  isMapping(answer) && (answer['kind'] === 'approve_once' || answer['kind'] === 'approve_for_scope')

export const createRegisteredCalls = (registry: CallRegistry): RegisteredCalls => {
  const calls = new Map<string, Expected>()

  const askFor = async (
    call: Expected,
    asked: Pick<RegistryRequest, 'tool' | 'input' | 'isAskedLast'>,
  ): Promise<RegistryDecision | RegistryWait> => {
    // If the input was edited, the earlier question is withdrawn.
    await call.entry?.withdraw()
    const { resume, askedWith } = call
    try {
      call.entry = await registry.ask(withoutUndefined({ ...asked, resume, askedWith }))
      if (call.isDropped) {
        // Its caller has gone while the registry was asked.
        await call.entry.withdraw()
        throw fail('cancelled', {})
      }
      call.onInvocation(call.entry.id)
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      call.refusal = error
      // For the model. The facts have the whole error.
      return { kind: 'denied', by: 'the registry', reason: error.agentMessage }
    }
    const now = await call.entry.now()
    if (now.kind !== 'waiting') call.decision = now
    return now
  }

  const answerHook = async ({ callId, tool, input }: HookEvent): Promise<HookAnswer> => {
    const call = calls.get(callId ?? '')
    if (call === undefined || tool === null) return {}
    const said = await askFor(call, { tool, input, isAskedLast: true })
    if (call.refusal !== undefined) throw call.refusal
    const auditRefs = call.entry === undefined ? [] : [call.entry.id]
    if (said.kind === 'waiting')
      return { decision: 'ask', reason: `${said.because} (${auditRefs.join('')})`, auditRefs }
    return said.kind === 'approved' ? { auditRefs } : { decision: 'deny', reason: said.reason }
  }

  /** Waits for people's answers in the registry. */
  const waitFor = async (
    call: Expected & { readonly entry: RegistryEntry },
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> => {
    call.decision = await call.entry.decision(signal)
    return answerOf(call.decision, { kind: 'approve_once', by: 'the registry' })
  }

  /** Rules of this runtime ask. The registry is asked only after the approval here. */
  const approveHereFirst = async (
    call: Expected,
    local: Approve | undefined,
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> => {
    const here = local === undefined ? undefined : await local(request, { signal })
    if (local !== undefined && !isYes(here)) return here ?? NOBODY
    const said = await askFor(call, {
      tool: request.tool,
      input: request.input,
      isAskedLast: here !== undefined,
    })
    const there =
      said.kind === 'waiting' ? await waitFor(requireAsked(request.callId), signal) : answerOf(said, here ?? NOBODY)
    return here !== undefined && there.kind === 'approve_once' ? here : there
  }

  const requireAsked = (callId: string): Expected & { readonly entry: RegistryEntry } => {
    const call = calls.get(callId)
    if (call?.entry === undefined)
      throw fail('store-state', {
        problem: 'the registry was not asked about this call',
        hint: 'let somebody answer in time',
      })
    return call as Expected & { readonly entry: RegistryEntry }
  }

  return {
    hook: {
      name: 'registry',
      points: ['pre_tool_use'],
      source: 'managed',
      timeout: ASK_MS,
      throwsDenials: true,
      run: answerHook,
    },
    isElsewhere: (callId) => {
      const { entry, decision } = calls.get(callId) ?? {}
      const hasEnded = decision?.kind === 'approved' && decision.hasEnded
      return entry !== undefined && (registry.execution === 'runners' || hasEnded)
    },
    expect: (callId, expected) => {
      if (calls.has(callId))
        throw fail('ticket-refused', { problem: 'is being resumed already', fix: 'wait for the result of that call' })
      const fresh = { entry: undefined, decision: undefined, refusal: undefined, hasStarted: false, isDropped: false }
      calls.set(callId, { ...expected, ...fresh })
    },
    approve: (local) => async (request, options) => {
      const call = calls.get(request.callId)
      if (call !== undefined && call.entry === undefined) return approveHereFirst(call, local, request, options.signal)
      if (call === undefined || call.decision !== undefined)
        return local === undefined ? NOBODY : local(request, options)
      return waitFor(requireAsked(request.callId), options.signal)
    },
    answerNow: async (callId, tool, input) => {
      const call = calls.get(callId)
      if (call === undefined) return NOBODY
      const ask = () => askFor(call, { tool, input, isAskedLast: false })
      const said = call.decision ?? (await (call.entry === undefined ? ask() : call.entry.now()))
      if (said.kind === 'waiting') return undefined
      call.decision = said
      // If nobody was asked there, a rule of this runtime asks.
      return answerOf(said, NOBODY)
    },
    leave: (callId) => {
      const id = calls.get(callId)?.entry?.id ?? null
      calls.delete(callId)
      return id
    },
    start: async (callId) => {
      const call = requireAsked(callId)
      await call.entry.start()
      call.hasStarted = true
      return { invocation: call.entry.id, cancelled: call.entry.cancelled }
    },
    elsewhere: async (callId, listening) => {
      const { entry } = requireAsked(callId)
      calls.delete(callId)
      return entry.ended(listening)
    },
    complete: async (callId, run) => {
      const { entry } = requireAsked(callId)
      calls.delete(callId)
      await entry.complete(run)
    },
    refusalOf: (callId) => calls.get(callId)?.refusal,
    drop: async (callId) => {
      const call = calls.get(callId)
      if (call === undefined) return
      calls.delete(callId)
      call.isDropped = true
      if (!call.hasStarted) await call.entry?.withdraw()
    },
  }
}
