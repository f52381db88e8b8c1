// The books of a team: whether a call may be made is asked there, by people where it must be, and what came of it is
// written there. The database decides; this process only keeps to it.
import { randomUUID } from 'node:crypto'

import { fail } from '../../errors/index.js'
import { canonicalJson } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import type { Completion } from '../../store/index.js'

import { openCallStore } from './call-store.js'
import type { LedgerSettings, SeenCall } from './call-store.js'
import { deliverCompletion, whileUnavailable } from './deliver.js'
import { waitElsewhere } from './elsewhere.js'
import type { RemoteListening } from './elsewhere.js'
import type { SameTool } from './same-tool.js'

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
  /** What came of it, where others run it; tells what it says meanwhile. */
  readonly ended: (listening: RemoteListening) => Promise<SeenCall>
}

export interface CallLedger {
  readonly execution: 'here' | 'runners'
  readonly ask: (request: LedgerRequest) => Promise<LedgerEntry>
  /** Nothing is waited for any more. What was asked for stays asked for, and can be gone on with by its id. */
  readonly leave: () => void
  readonly close: () => Promise<void>
}

const HEARTBEAT_MS = 10_000
/** Within the time that a hook has. */
const ASK_MS = 25_000
const COMPLETE_MS = 60_000

/** `same`: whether what is registered is what this process would run. */
export const openLedger = async (settings: LedgerSettings, same: SameTool): Promise<CallLedger> => {
  const store = openCallStore(settings)
  const { execution = 'here' } = settings
  const leaving = new AbortController()
  // A process that runs nothing is no runner, and needs no right to be one.
  const alive = () => (execution === 'runners' ? Promise.resolve() : store.heartbeat())
  try {
    await alive()
    // Of a call that runners take, they look at it themselves.
    if (execution === 'here') for (const registration of await store.registrations()) same.require(registration)
  } catch (error) {
    await store.close()
    throw error
  }
  const requireSame = async (tool: string, input: JsonValue): Promise<void> => {
    if (execution === 'here') same.requireCall(await store.registration(tool), input)
  }
  // One that fails is made up for by the next; a database that is away for longer takes the calls of this process back.
  const beat = setInterval(() => void alive().catch(() => undefined), settings.heartbeatMs ?? HEARTBEAT_MS)
  beat.unref()

  const entryOf = (id: string, tool: string, input: JsonValue): LedgerEntry => {
    const over = new AbortController()
    const cancelled = new AbortController()
    let claimed: SeenCall | undefined
    return {
      id,
      cancelled: cancelled.signal,
      now: async () => {
        const invocation = await store.find(id)
        return invocation.status === 'pending' ? undefined : decisionOf(invocation)
      },
      withdraw: async () => {
        if (leaving.signal.aborted) return
        // It may be decided, expired or gone by now; then there is nothing to take back.
        await store.cancel(id, 'not wanted any more').catch(() => undefined)
      },
      decision: async (signal) => {
        try {
          return decisionOf(await store.wait(id, ({ status }) => status !== 'pending', either(signal, leaving.signal)))
        } catch (error) {
          // Nobody waits for it any more, so nobody should be asked about it any more.
          if (signal?.aborted === true) await store.cancel(id, 'its caller went away').catch(() => undefined)
          throw error
        }
      },
      start: async () => {
        // It may be registered anew since it was asked for. From the claim on the database sees to that.
        await requireSame(tool, input)
        claimed = await store.claim(id)
        if (claimed === undefined) throw fail('store-state', { problem: `invocation ${id} cannot be started: it is paused, stopped, or taken by another`, hint: 'see: cordon why' })
        const told = store.wait(id, ({ isCancelRequested }) => isCancelRequested, over.signal)
        void told.then(() => { cancelled.abort() }, () => undefined)
      },
      complete: async (completion) => {
        over.abort()
        if (claimed !== undefined) await deliverCompletion(store, claimed, completion, AbortSignal.timeout(COMPLETE_MS))
      },
      ended: (listening) => waitElsewhere(store, id, listening, leaving.signal),
    }
  }

  return {
    execution,
    leave: () => {
      leaving.abort(fail('runtime-closed', {}))
    },
    ask: async ({ tool, input, resume }) => {
      // Before people are asked about something that is not what would run.
      await whileUnavailable(() => requireSame(tool, input), AbortSignal.timeout(ASK_MS))
      if (resume !== undefined) {
        const { tool: known, input: before } = await store.find(resume)
        // The database keeps keys in an order of its own; what counts is that it is the same value.
        if (known !== tool || canonicalJson(before as JsonValue) !== canonicalJson(input)) throw fail('store-state', { problem: `invocation ${resume} is about something else`, hint: 'resume it with the tool and the input that it was asked for with' })
        return entryOf(resume, tool, input)
      }
      // The same request again is the same call, also when only the answer was lost.
      const request = randomUUID()
      return entryOf(await whileUnavailable(() => store.invoke(tool, input, { request, dispatch: execution === 'runners' ? 'runners' : 'caller' }), AbortSignal.timeout(ASK_MS)), tool, input)
    },
    close: async () => {
      clearInterval(beat)
      await store.close()
    },
  }
}

const either = (given: AbortSignal | undefined, leaving: AbortSignal): AbortSignal => (given === undefined ? leaving : AbortSignal.any([given, leaving]))

const decisionOf = ({ status, approvalDecidedBy: by, approvalReason: reason }: SeenCall): LedgerDecision => {
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
