// Calls of a runtime in the books of a team. The gate asks by a hook, people answer through the store, and a run is
// claimed before it begins and completed when it has ended.
import { CordonError } from '../../errors/index.js'
import type { Hook, HookAnswer, HookEvent } from '../../gate/index.js'

import type { Approve } from '../approvals.js'
import type { CallHandlers } from '../call-outcome.js'

import type { CallLedger, LedgerDecision, LedgerEntry } from './call-ledger.js'
import { completionOf } from './completion.js'
import type { EndedRun } from './completion.js'
import { outcomeOf } from './elsewhere.js'
import type { Elsewhere, RemoteListening } from './elsewhere.js'

export interface RegisteredCalls {
  /** Nothing is started here: another host runs it, or it has ended before. */
  readonly isElsewhere: (callId: string) => boolean
  /** Asks the store before every call; the strictest answer counts, as with all hooks. */
  readonly hook: Hook
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
  /** It was not run after all. */
  readonly drop: (callId: string) => Promise<void>
}

interface Expected extends Pick<CallHandlers, 'resume' | 'askedWith' | 'onInvocation'> {
  entry: LedgerEntry | undefined
  decision: LedgerDecision | undefined
  hasStarted: boolean
}

const ASK_MS = 30_000
const TOLD_WITH_FIX: ReadonlySet<string> = new Set(['tool-not-as-registered', 'tool-not-for-this-host'])

export const registeredCalls = (ledger: CallLedger): RegisteredCalls => {
  const calls = new Map<string, Expected>()

  const askFor = async ({ callId, tool, input }: HookEvent): Promise<HookAnswer> => {
    const call = calls.get(callId ?? '')
    if (call === undefined || tool === null) return {}
    // Asked again: the input was edited, and what was asked for before is not what will run.
    await call.entry?.withdraw()
    try {
      call.entry = await ledger.ask({ tool, input, ...(call.resume === undefined ? {} : { resume: call.resume }), ...(call.askedWith === undefined ? {} : { askedWith: call.askedWith }) })
      call.onInvocation(call.entry.id)
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      return { decision: 'deny', reason: error.fix === undefined || !TOLD_WITH_FIX.has(error.code) ? error.message : `${error.message}; ${error.fix}` }
    }
    const now = await call.entry.now()
    if (now.kind === 'waiting') return { decision: 'ask', reason: `${now.because} (${call.entry.id})`, auditRefs: [call.entry.id] }
    call.decision = now
    return call.decision.kind === 'approved' ? { auditRefs: [call.entry.id] } : { decision: 'deny', reason: call.decision.reason }
  }

  const started = (callId: string): Expected & { readonly entry: LedgerEntry } => {
    const call = calls.get(callId)
    if (call?.entry === undefined) throw new Error(`the call ${callId} is not in the books`)
    return call as Expected & { readonly entry: LedgerEntry }
  }

  return {
    hook: { name: 'registry', points: ['pre_tool_use'], source: 'managed', timeout: ASK_MS, run: askFor },
    isElsewhere: (callId) => {
      const decision = calls.get(callId)?.decision
      return ledger.execution === 'runners' || (decision?.kind === 'approved' && decision.hasEnded)
    },
    expect: (callId, { resume, askedWith, onInvocation }) => {
      calls.set(callId, { resume, askedWith, onInvocation, entry: undefined, decision: undefined, hasStarted: false })
    },
    approve: (local) => async (request, options) => {
      const call = calls.get(request.callId)
      if (call?.entry === undefined || call.decision !== undefined)
        return local === undefined ? { kind: 'deny', by: 'nobody', reason: 'the registry needs no approval, the rules of this runtime do, and there is nobody to ask' } : local(request, options)
      call.decision = await call.entry.decision(options.signal)
      return call.decision.kind === 'approved' ? { kind: 'approve_once', by: call.decision.by ?? 'the store' } : { kind: 'deny', by: call.decision.by, reason: call.decision.reason }
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
    drop: async (callId) => {
      const call = calls.get(callId)
      calls.delete(callId)
      if (call?.hasStarted === false) await call.entry?.withdraw()
    },
  }
}
