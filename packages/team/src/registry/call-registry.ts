// The registry of a team: its database decides whether a call may run, if needed by asking people, and keeps the
// result. This process only follows.
import { randomUUID } from 'node:crypto'
import { CordonError } from 'cordon/errors'
import { canonicalJson } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import type { CallRegistry, RegistryDecision, RegistryEntry } from 'cordon/runtime'

import { fail, isAway } from '../errors/errors.js'
import type { SameTool } from '../tools/same-tool.js'
import { anyOf, whileUnavailable } from './away.js'
import { completionOf } from './deliver.js'
import { outcomeOf, waitElsewhere } from './elsewhere.js'
import { HEARTBEAT_MS, SILENT_MS } from './lease.js'
import { openHost } from './own-host.js'
import type { OwnHost } from './own-host.js'
import { lackOf, openRegistryAccess } from './registry-access.js'
import type { KnownTool, RegistrySettings, SeenCall } from './registry-access.js'

/** Shorter than the time limit of the hook. */
const ASK_MS = 25_000

/** `same`: compares a registration with the tool of this process. `holds`: the mechanisms of this host. */
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
    // Runners compare their tools themselves. A process that runs nothing needs no right to be a runner.
    if (execution === 'here') {
      host = await openHost(access, { heartbeatMs, silentMs })
      for (const registration of await access.registrations()) same.require(registration)
    }
  } catch (error) {
    await host?.close()
    await access.close()
    throw error
  }
  const known = new Map<string, KnownTool>()
  const lookUp = async (tool: string): Promise<KnownTool> => {
    const registration = await access.registration(tool)
    known.set(tool, registration)
    return registration
  }
  const requireRunnable = (registration: KnownTool, input: JsonValue): void => {
    same.requireCall(registration, input)
    const problem = lackOf(registration, { labels, holds })
    if (problem !== undefined) throw fail('tool-not-for-this-host', { tool: registration.key, problem })
  }
  /** The database compares the version, so an earlier look at the registration is enough. */
  const begin = async (tool: string, input: JsonValue, how: Parameters<typeof access.begin>[2]): Promise<SeenCall> => {
    const earlier = known.get(tool)
    const registration = earlier ?? (await lookUp(tool))
    requireRunnable(registration, input)
    try {
      return await access.begin(registration, input, how)
    } catch (error) {
      if (earlier === undefined || !(error instanceof CordonError) || isAway(error)) throw error
      const now = await lookUp(tool)
      if (now.version === earlier.version) throw error
      requireRunnable(now, input)
      return access.begin(now, input, how)
    }
  }
  /** A call that another process runs may come back to this one, if that process is lost. */
  const isOpen = ({ status, runner }: SeenCall): boolean =>
    status === 'pending' || (status === 'running' && execution === 'here' && runner !== access.runner)

  const entryOf = (id: string, tool: string, input: JsonValue, asked?: SeenCall): RegistryEntry => {
    const cancelled = new AbortController()
    let taken = asked?.status === 'running' ? host?.adopt(asked, cancelled) : undefined
    let latest = asked
    return {
      id,
      cancelled: cancelled.signal,
      now: async () => {
        const invocation = latest ?? (await access.find(id))
        latest = undefined
        if (!isOpen(invocation)) return decisionOf(invocation)
        return {
          kind: 'waiting',
          because:
            invocation.status === 'pending'
              ? 'the registry wants it approved'
              : `${invocation.runner ?? 'another'} runs it, as the registry has it`,
        }
      },
      withdraw: async () => {
        if (taken !== undefined) {
          await taken.giveBack()
          return
        }
        if (leaving.signal.aborted) return
        // If it is decided, expired or gone by now, there is nothing to withdraw.
        const takeBack = async () => {
          if (execution === 'runners' || (await access.find(id)).status !== 'running')
            await access.cancel(id, 'not wanted any more')
        }
        await takeBack().catch(() => undefined)
      },
      decision: async (signal) => {
        try {
          return decisionOf(await access.wait(id, (call) => !isOpen(call), anyOf(signal, leaving.signal)))
        } catch (error) {
          // Its caller has gone, so people should not be asked any more.
          if (signal?.aborted === true) await access.cancel(id, 'its caller went away').catch(() => undefined)
          throw error
        }
      },
      start: async () => {
        if (taken !== undefined) {
          await host?.requireLease()
          cancelled.signal.throwIfAborted()
          return
        }
        // The tool may be registered anew since the question. After the claim the database checks this.
        requireRunnable(await lookUp(tool), input)
        taken = await host?.take(id, cancelled)
        if (taken === undefined) throw notStarted(await access.find(id))
      },
      complete: async (run) => {
        await taken?.complete(completionOf(run))
      },
      ended: async (listening) => outcomeOf(await waitElsewhere(access, id, listening, leaving.signal)),
    }
  }

  return {
    execution,
    leave: () => {
      leaving.abort(fail('runtime-closed', {}))
    },
    ask: async ({ tool, input, resume, askedWith, isAskedLast }) => {
      const enough = AbortSignal.timeout(ASK_MS)
      if (resume !== undefined) {
        const { tool: of, input: before } = await access.find(resume)
        // The database may keep keys in another order.
        if (of !== tool || canonicalJson(before as JsonValue) !== canonicalJson(input))
          throw fail('store-state', {
            problem: `call ${resume} is about something else`,
            hint: 'resume it with the tool and the input that it was asked for with',
          })
        return entryOf(resume, tool, input)
      }
      // A repeated request with the same id is the same call, also when only the answer was lost.
      const request = { ...askedWith, request: randomUUID() }
      if (host !== undefined && isAskedLast) {
        await host.requireLease()
        const ask = () => begin(tool, input, request)
        const call = await whileUnavailable(ask, enough).catch((error: unknown) => {
          if (isAway(error)) host.giveBackIfBegun(ask)
          throw error
        })
        return entryOf(call.id, tool, input, call)
      }
      const dispatch = execution === 'runners' ? 'runners' : 'caller'
      // People must not be asked about a tool that would not run.
      if (dispatch === 'caller')
        await whileUnavailable(async () => {
          requireRunnable(await lookUp(tool), input)
        }, enough)
      return entryOf(
        await whileUnavailable(() => access.invoke(tool, input, { ...request, dispatch }), enough),
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

const decisionOf = ({ status, approvalDecidedBy: by, approvalReason: reason, error }: SeenCall): RegistryDecision => {
  switch (status) {
    case 'approved':
    case 'running':
      return { kind: 'approved', by, hasEnded: false }
    case 'completed':
    case 'failed':
      return { kind: 'approved', by, hasEnded: true }
    case 'rejected':
      // If the registry itself rejected the call, the reason is its error.
      if (error !== null) return { kind: 'denied', by: 'the registry', reason: error }
      return { kind: 'denied', by: by ?? 'somebody', reason: reason ?? 'no reason given' }
    case 'expired':
    case 'cancelled':
    case 'pending':
      return { kind: 'denied', by: 'the registry', reason: `the request is ${status}` }
  }
}

/** Why the claim was refused. */
const notStarted = ({ id, status, runner, error }: SeenCall): CordonError => {
  const because = (problem: string, hint: string) =>
    fail('store-state', { problem: `call ${id} cannot be started: ${problem}`, hint })
  if (status === 'approved')
    return because(
      'it is approved, and paused, stopped, past its time or not for this process',
      `see: cordon why ${id}`,
    )
  if (status === 'running')
    return because(`${runner ?? 'another'} runs it`, 'go on with it by its id, which waits for what comes of it')
  return because(
    `it is ${status}${status === 'rejected' && error !== null ? ` (${error})` : ''}`,
    'go on with it by its id, or ask for it again',
  )
}
