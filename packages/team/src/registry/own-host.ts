// This process as a runner of its own calls: its lease, the calls it has claimed, and when they must end.
import { fail, isAway } from '../errors/errors.js'
import type { Completion } from '../store/index.js'
import { whileUnavailable } from './away.js'
import { deliverCompletion } from './deliver.js'
import { createLease, inTime, keepLease, watchClaim } from './lease.js'
import type { RegistryAccess, SeenCall } from './registry-access.js'

interface TakenCall {
  readonly complete: (completion: Completion) => Promise<void>
  /** It does not run. The registry learns that in the background, if it cannot be reached now. */
  readonly giveBack: () => Promise<void>
}

export interface OwnHost {
  /** Throws if others may believe that this process is gone, and it cannot tell them otherwise. */
  readonly requireLease: () => Promise<void>
  /** Claims a call. Undefined if another runner has it. `ended` is aborted when the run has to end. */
  readonly take: (id: string, ended: AbortController) => Promise<TakenCall | undefined>
  /** A call that was claimed when it was asked for. */
  readonly adopt: (begun: SeenCall, ended: AbortController) => TakenCall
  /** A call may have begun, and its answer was lost. `again` asks for the same call once more. */
  readonly giveBackIfBegun: (again: () => Promise<SeenCall>) => void
  readonly close: () => Promise<void>
}

const CLAIM_MS = 25_000
const COMPLETE_MS = 60_000
const UPKEEP_MS = 60_000
const notBegun = (because: string): Completion => ({
  status: 'failed',
  error: `it was not begun: ${because}`,
  usage: { status: 'failed', reason: 'The call was not begun.' },
})
const UNREACHED = notBegun('the store could not be reached when it was claimed')
const UNWANTED = notBegun('its caller does not want it any more')
/** Heartbeats in a lease, at least: one that is missed does not end calls. */
const BEATS = 6

export const openHost = async (
  access: RegistryAccess,
  { heartbeatMs, silentMs }: { readonly heartbeatMs: number; readonly silentMs: number },
): Promise<OwnHost> => {
  const lost = () => fail('runner-lost', { runner: access.runner, seconds: Math.round(silentMs / 1_000) })
  const lease = createLease(access.heartbeat, silentMs)
  // The second attempt throws the error.
  if (!(await lease.renew())) await access.heartbeat()
  const taken = new Map<string, AbortController>()
  const endAll = (): void => {
    for (const ended of taken.values()) ended.abort(lost())
  }
  const beat = keepLease(lease, Math.min(heartbeatMs, silentMs / BEATS), endAll)
  beat.unref()
  const upkeep = access.keepUp === undefined ? undefined : startUpkeep(access.keepUp, Math.min(UPKEEP_MS, silentMs))
  const leaving = new AbortController()

  const ours = async (id: string): Promise<SeenCall | undefined> => {
    const now = await access.find(id)
    return now.status === 'running' && now.runner === access.runner ? now : undefined
  }
  /** If only the answer of an earlier attempt was lost, the call is claimed already. */
  const claim = async (id: string): Promise<SeenCall | undefined> => (await access.claim(id)) ?? (await ours(id))
  /** While heartbeats arrive, the registry gives the call to nobody else. So a call that does not run is given back. */
  const giveBackIfOurs = async (id: string): Promise<void> => {
    const claimed = await whileUnavailable(() => ours(id), leaving.signal)
    if (claimed !== undefined) await deliverCompletion(access, claimed, UNREACHED, leaving.signal)
  }
  const inTheBackground = (id: string, work: Promise<unknown>): void => {
    void work.catch(() => undefined).finally(() => taken.delete(id))
  }

  const requireLease = async (): Promise<void> => {
    if (lease.isHeld()) return
    // Others may have these calls by now.
    endAll()
    if (!(await lease.renew())) throw lost()
  }
  const claimNow = (id: string): Promise<SeenCall | undefined> =>
    whileUnavailable(() => claim(id), AbortSignal.timeout(CLAIM_MS)).catch((error: unknown) => {
      inTheBackground(id, giveBackIfOurs(id))
      throw error
    })
  const hold = (claimed: SeenCall, ended: AbortController): TakenCall => {
    const { id } = claimed
    const over = new AbortController()
    watchClaim(claimed, (until, signal) => access.wait(id, until, signal), ended, over.signal)
    const deliver = async (completion: Completion): Promise<void> => {
      over.abort()
      try {
        await deliverCompletion(access, claimed, completion, AbortSignal.timeout(COMPLETE_MS))
        taken.delete(id)
      } catch (error) {
        // Its caller no longer waits. The registry still gets the result.
        inTheBackground(
          id,
          isAway(error) ? deliverCompletion(access, claimed, completion, leaving.signal) : Promise.resolve(),
        )
        throw error
      }
    }
    return { complete: deliver, giveBack: () => deliver(UNWANTED).catch(() => undefined) }
  }

  return {
    requireLease,
    adopt: (begun, ended) => {
      taken.set(begun.id, ended)
      return hold(begun, ended)
    },
    giveBackIfBegun: (again) => {
      const work = whileUnavailable(again, leaving.signal).then(async (call) => {
        if (call.status === 'running') await deliverCompletion(access, call, UNREACHED, leaving.signal)
      })
      void work.catch(() => undefined)
    },
    take: async (id, ended) => {
      await requireLease()
      // This process runs it already.
      if (taken.has(id)) return undefined
      taken.set(id, ended)
      const claimed = await claimNow(id)
      if (claimed !== undefined) return hold(claimed, ended)
      taken.delete(id)
      return undefined
    },
    close: async () => {
      clearInterval(beat)
      leaving.abort()
      await upkeep?.stop()
    },
  }
}

const STOP_MS = 2_000

/** Runs at once and then repeatedly. Errors are ignored: the next run makes up for a failed one. */
const startUpkeep = (work: () => Promise<unknown>, everyMs: number): { readonly stop: () => Promise<void> } => {
  let current: Promise<unknown> | undefined
  const once = (): void => {
    current ??= work()
      .catch(() => undefined)
      .finally(() => {
        current = undefined
      })
  }
  once()
  const timer = setInterval(once, everyMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      // The database is closed after this, so a running upkeep should end first.
      await inTime(async () => current, STOP_MS)
    },
  }
}
