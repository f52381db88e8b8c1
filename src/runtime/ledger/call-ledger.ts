// The books of a team: whether a call may be made is asked there, by people where it must be, and what came of it is
// written there. The database decides; this process only keeps to it.
import { fail } from '../../errors/index.js'
import { canonicalJson } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import { cancelInvocation, claimInvocations, completeInvocation, findTool, invokeTool, requireInvocation, sendHeartbeat, speakingAs, watchInvocations } from '../../store/index.js'
import type { Completion, Engine, Invocation } from '../../store/index.js'

export interface LedgerSettings {
  readonly engine: Engine
  readonly owner: string
  /** Who calls; the same cannot approve. */
  readonly agent: string
  /** By which name this process takes its calls. */
  readonly runner: string
  /** `login`: the engine is logged in as the agent, who is a runner too. `gateway`: it speaks for both. */
  readonly speaks: 'login' | 'gateway'
  readonly heartbeatMs?: number
}

export interface LedgerRequest {
  readonly tool: string
  readonly input: JsonValue
  /** A call that was asked for before, by this process or by one that is gone: it goes on with that. */
  readonly resume?: string
}

export type LedgerDecision =
  | { readonly kind: 'approved'; /** Null where nobody had to be asked. */ readonly by: string | null }
  | { readonly kind: 'denied'; readonly by: string; readonly reason: string }

/** One call in the books. */
export interface LedgerEntry {
  readonly id: string
  /** What is known now; undefined while people are being asked. */
  readonly now: () => Promise<LedgerDecision | undefined>
  readonly decision: (signal: AbortSignal | undefined) => Promise<LedgerDecision>
  /** Takes it back, if nothing has come of it yet. */
  readonly withdraw: () => Promise<void>
  /** From then on nobody else runs it. Fails when somebody else does, or it may not be run any more. */
  readonly start: () => Promise<void>
  readonly complete: (completion: Completion) => Promise<void>
  /** Aborted when somebody cancels it while it runs. */
  readonly cancelled: AbortSignal
}

export interface CallLedger {
  readonly ask: (request: LedgerRequest) => Promise<LedgerEntry>
  readonly close: () => Promise<void>
}

const HEARTBEAT_MS = 10_000

export const openLedger = async ({ engine, owner, agent, runner, speaks, heartbeatMs = HEARTBEAT_MS }: LedgerSettings): Promise<CallLedger> => {
  const asAgent = speakingAs(engine, speaks === 'login' ? { kind: 'login' } : { kind: 'gateway', role: 'cordon_agent', actor: agent })
  const asRunner = speakingAs(engine, speaks === 'login' ? { kind: 'login' } : { kind: 'gateway', role: 'cordon_runner', actor: agent })
  const watch = watchInvocations(engine)
  const alive = () => sendHeartbeat(asRunner, { name: runner, labels: [], holds: [], isDraining: false })
  await alive()
  // One that fails is made up for by the next; a database that is away for longer takes the calls of this process back.
  const beat = setInterval(() => void alive().catch(() => undefined), heartbeatMs)
  beat.unref()

  const entryOf = (id: string): LedgerEntry => {
    const over = new AbortController()
    const cancelled = new AbortController()
    let claimed: Invocation | undefined
    return {
      id,
      cancelled: cancelled.signal,
      now: async () => {
        const invocation = await requireInvocation(asAgent, id)
        return invocation.status === 'pending' ? undefined : decisionOf(invocation)
      },
      withdraw: async () => {
        // It may be decided, expired or gone by now; then there is nothing to take back.
        await cancelInvocation(asAgent, id, 'not wanted any more').catch(() => undefined)
      },
      decision: async (signal) => {
        try {
          return decisionOf(await watch.wait(asAgent, id, { until: ({ status }) => status !== 'pending', ...(signal === undefined ? {} : { signal }) }))
        } catch (error) {
          // Nobody waits for it any more, so nobody should be asked about it any more.
          if (signal?.aborted === true) await cancelInvocation(asAgent, id, 'its caller went away').catch(() => undefined)
          throw error
        }
      },
      start: async () => {
        [claimed] = await claimInvocations(asRunner, runner, { id })
        if (claimed === undefined) throw fail('store-state', { problem: `invocation ${id} cannot be started: it is paused, stopped, or taken by another`, hint: 'see: cordon why' })
        const told = watch.wait(asRunner, id, { until: ({ isCancelRequested }) => isCancelRequested, signal: over.signal })
        void told.then(() => { cancelled.abort() }, () => undefined)
      },
      complete: async (completion) => {
        over.abort()
        if (claimed !== undefined) await completeInvocation(asRunner, claimed, completion)
      },
    }
  }

  return {
    ask: async ({ tool, input, resume }) => {
      if (resume !== undefined) {
        const { tool: known, input: before } = await requireInvocation(asAgent, resume)
        // The database keeps keys in an order of its own; what counts is that it is the same value.
        if (known !== tool || canonicalJson(before as JsonValue) !== canonicalJson(input)) throw fail('store-state', { problem: `invocation ${resume} is about something else`, hint: 'resume it with the tool and the input that it was asked for with' })
        return entryOf(resume)
      }
      const registered = await findTool(asAgent, owner, tool)
      if (registered === undefined) throw fail('store-missing', { problem: `${owner} has no tool ${tool}` })
      return entryOf(await invokeTool(asAgent, { toolId: registered.id, agent, input }))
    },
    close: async () => {
      clearInterval(beat)
      await watch.close()
    },
  }
}

const decisionOf = ({ status, approvalDecidedBy: by, approvalReason: reason }: Invocation): LedgerDecision => {
  switch (status) {
    case 'approved':
    case 'running':
    case 'completed':
    case 'failed':
      return { kind: 'approved', by }
    case 'rejected':
      return { kind: 'denied', by: by ?? 'somebody', reason: reason ?? 'no reason given' }
    case 'expired':
    case 'cancelled':
    case 'pending':
      return { kind: 'denied', by: 'the store', reason: `the request is ${status}` }
  }
}
