// The registry of a team: it decides whether a call may run, where needed by asking people, and keeps the result.
// The database decides. This process only follows.
import { randomUUID } from 'node:crypto'

import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { canonicalJson } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import type { Completion } from '../../store/index.js'

import type { SameTool } from '../tool-identity/same-tool.js'

import type { AskedWith } from './asked-with.js'
import { whileUnavailable } from './away.js'
import { SILENT_MS, openRegistryAccess } from './registry-access.js'
import type { RegistrySettings, SeenCall } from './registry-access.js'
import { waitElsewhere } from './elsewhere.js'
import type { RemoteListening } from './elsewhere.js'
import { lackOf } from './host-abilities.js'
import { openHost } from './own-host.js'
import type { OwnHost, TakenCall } from './own-host.js'

export interface RegistryRequest {
  readonly tool: string
  readonly input: JsonValue
  readonly askedWith?: AskedWith
  /** A call that was asked for before, by this process or by one that is gone: it goes on with that. */
  readonly resume?: string
}

export type RegistryDecision =
  | {
      readonly kind: 'approved'
      /** Null where nobody had to be asked. */ readonly by: string | null
      /** It has run already: there is a result. */ readonly hasEnded: boolean
    }
  | { readonly kind: 'denied'; readonly by: string; readonly reason: string }

export interface RegistryWait {
  readonly kind: 'waiting'
  /** For whom, in words. */
  readonly because: string
}

/** One call in the registry. */
export interface RegistryEntry {
  readonly id: string
  readonly now: () => Promise<RegistryDecision | RegistryWait>
  readonly decision: (signal: AbortSignal | undefined) => Promise<RegistryDecision>
  /** Takes it back, if nothing has come of it yet. What another runs stays his. */
  readonly withdraw: () => Promise<void>
  /** From then on nobody else runs it. Fails when somebody else does, or it may not be run any more. */
  readonly start: () => Promise<void>
  readonly complete: (completion: Completion) => Promise<void>
  /** Aborted when it has to end while it runs: somebody cancelled it, or it may be given to another. */
  readonly cancelled: AbortSignal
  /** What came of it, where others run it or it has ended; tells what it says meanwhile. */
  readonly ended: (listening: RemoteListening) => Promise<SeenCall>
}

export interface CallRegistry {
  readonly execution: 'here' | 'runners'
  readonly ask: (request: RegistryRequest) => Promise<RegistryEntry>
  /** Nothing is waited for any more. What was asked for stays asked for, and can be gone on with by its id. */
  readonly leave: () => void
  readonly close: () => Promise<void>
}

const HEARTBEAT_MS = 10_000
/** Within the time that a hook has. */
const ASK_MS = 25_000

/** `same`: whether what is registered is what this process would run. `holds`: the mechanisms of this host. */
export const openCallRegistry = async (
  settings: RegistrySettings,
  same: SameTool,
  holds: readonly string[],
): Promise<CallRegistry> => {
  const { execution = 'here', labels = [], heartbeatMs = HEARTBEAT_MS, silentMs = SILENT_MS } = settings
  const access = openRegistryAccess(settings, { labels, holds })
  const leaving = new AbortController()
  let host: OwnHost | undefined
  try {
    // Of a call that runners take, they look at it themselves. A process that runs nothing is no runner, and needs no
    // right to be one.
    if (execution === 'here') {
      host = await openHost(access, { heartbeatMs, silentMs })
      for (const registration of await access.registrations()) same.require(registration)
    }
  } catch (error) {
    await host?.close()
    await access.close()
    throw error
  }
  const requireRunnable = async (tool: string, input: JsonValue): Promise<void> => {
    if (execution === 'runners') return
    const registration = await access.registration(tool)
    same.requireCall(registration, input)
    const problem = lackOf(registration, { labels, holds })
    if (problem !== undefined) throw fail('tool-not-for-this-host', { tool, problem })
  }
  /** What runs elsewhere is waited for where this process would have to run it itself, if its runner is lost. */
  const isOpen = (status: SeenCall['status']): boolean =>
    status === 'pending' || (status === 'running' && execution === 'here')

  const entryOf = (id: string, tool: string, input: JsonValue): RegistryEntry => {
    const cancelled = new AbortController()
    let taken: TakenCall | undefined
    return {
      id,
      cancelled: cancelled.signal,
      now: async () => {
        const invocation = await access.find(id)
        if (!isOpen(invocation.status)) return decisionOf(invocation)
        return {
          kind: 'waiting',
          because:
            invocation.status === 'pending'
              ? 'the registry wants it approved'
              : `${invocation.runner ?? 'another'} runs it, as the registry has it`,
        }
      },
      withdraw: async () => {
        if (leaving.signal.aborted) return
        // It may be decided, expired or gone by now; then there is nothing to take back.
        const takeBack = async () => {
          if (execution === 'runners' || (await access.find(id)).status !== 'running')
            await access.cancel(id, 'not wanted any more')
        }
        await takeBack().catch(() => undefined)
      },
      decision: async (signal) => {
        try {
          return decisionOf(await access.wait(id, ({ status }) => !isOpen(status), either(signal, leaving.signal)))
        } catch (error) {
          // Nobody waits for it any more, so nobody should be asked about it any more.
          if (signal?.aborted === true) await access.cancel(id, 'its caller went away').catch(() => undefined)
          throw error
        }
      },
      start: async () => {
        // It may be registered anew since it was asked for. From the claim on the database sees to that.
        await requireRunnable(tool, input)
        taken = await host?.take(id, cancelled)
        if (taken === undefined) throw notStarted(await access.find(id))
      },
      complete: async (completion) => {
        await taken?.complete(completion)
      },
      ended: (listening) => waitElsewhere(access, id, listening, leaving.signal),
    }
  }

  return {
    execution,
    leave: () => {
      leaving.abort(fail('runtime-closed', {}))
    },
    ask: async ({ tool, input, resume, askedWith }) => {
      // Before people are asked about something that is not what would run.
      await whileUnavailable(() => requireRunnable(tool, input), AbortSignal.timeout(ASK_MS))
      if (resume !== undefined) {
        const { tool: known, input: before } = await access.find(resume)
        // The database keeps keys in an order of its own; what counts is that it is the same value.
        if (known !== tool || canonicalJson(before as JsonValue) !== canonicalJson(input))
          throw fail('store-state', {
            problem: `call ${resume} is about something else`,
            hint: 'resume it with the tool and the input that it was asked for with',
          })
        return entryOf(resume, tool, input)
      }
      // The same request again is the same call, also when only the answer was lost.
      const request = randomUUID()
      return entryOf(
        await whileUnavailable(
          () =>
            access.invoke(tool, input, {
              ...askedWith,
              request,
              dispatch: execution === 'runners' ? 'runners' : 'caller',
            }),
          AbortSignal.timeout(ASK_MS),
        ),
        tool,
        input,
      )
    },
    close: async () => {
      await host?.close()
      await access.close()
    },
  }
}

const either = (given: AbortSignal | undefined, leaving: AbortSignal): AbortSignal =>
  given === undefined ? leaving : AbortSignal.any([given, leaving])

const decisionOf = ({ status, approvalDecidedBy: by, approvalReason: reason, error }: SeenCall): RegistryDecision => {
  switch (status) {
    case 'approved':
    case 'running':
      return { kind: 'approved', by, hasEnded: false }
    case 'completed':
    case 'failed':
      return { kind: 'approved', by, hasEnded: true }
    case 'rejected':
      // By the registry itself, which judged the call again: then the reason is its error.
      if (error !== null) return { kind: 'denied', by: 'the registry', reason: error }
      return { kind: 'denied', by: by ?? 'somebody', reason: reason ?? 'no reason given' }
    case 'expired':
    case 'cancelled':
    case 'pending':
      return { kind: 'denied', by: 'the registry', reason: `the request is ${status}` }
  }
}

/** Why the claim was refused, as far as the registry says. */
const notStarted = ({ id, status, runner, error }: SeenCall): CordonError => {
  switch (status) {
    case 'approved':
      return fail('store-state', {
        problem: `call ${id} cannot be started: it is approved, and paused, stopped, past its time or not for this process`,
        hint: `see: cordon why ${id}`,
      })
    case 'running':
      return fail('store-state', {
        problem: `call ${id} cannot be started: ${runner ?? 'another'} runs it`,
        hint: 'go on with it by its id, which waits for what comes of it',
      })
    case 'pending':
    case 'completed':
    case 'failed':
    case 'rejected':
    case 'expired':
    case 'cancelled':
      return fail('store-state', {
        problem:
          `call ${id} cannot be started: it is ` +
          `${status}${status === 'rejected' && error !== null ? ` (${error})` : ''}`,
        hint: 'go on with it by its id, or ask for it again',
      })
  }
}
