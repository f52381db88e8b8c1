// This process as one that runs calls itself: whether it is heard, what it has taken, and when that must end.
import { fail } from '../../errors/index.js'
import type { Completion } from '../../store/index.js'

import { isAway, whileUnavailable } from './away.js'
import type { RegistryAccess, SeenCall } from './registry-access.js'
import { watchClaim } from './claim-watch.js'
import { deliverCompletion } from './deliver.js'
import { createLease, keepLease } from './lease.js'
import { startUpkeep } from './upkeep.js'

export interface TakenCall {
  readonly complete: (completion: Completion) => Promise<void>
}

export interface OwnHost {
  /** From then on it is this process's, or undefined. `ended`: aborted when it must not go on with it. */
  readonly take: (id: string, ended: AbortController) => Promise<TakenCall | undefined>
  readonly close: () => Promise<void>
}

export interface HostTimes {
  readonly heartbeatMs: number
  readonly silentMs: number
}

const CLAIM_MS = 25_000
const COMPLETE_MS = 60_000
const UPKEEP_MS = 60_000
const NOT_BEGUN: Completion = {
  status: 'failed',
  error: 'it was not begun: the store could not be reached when it was claimed',
  usage: { status: 'failed', reason: 'The call was not begun.' },
}
/** So many heartbeats in a lease, at least: one that is missed does not end anything. */
const BEATS = 6

export const openHost = async (access: RegistryAccess, { heartbeatMs, silentMs }: HostTimes): Promise<OwnHost> => {
  const lost = () => fail('runner-lost', { runner: access.runner, seconds: Math.round(silentMs / 1_000) })
  const lease = createLease(access.heartbeat, silentMs)
  // Once more, for what is wrong with it.
  if (!(await lease.renew())) await access.heartbeat()
  const taken = new Map<string, AbortController>()
  const beat = keepLease(lease, Math.min(heartbeatMs, silentMs / BEATS), () => {
    for (const ended of taken.values()) ended.abort(lost())
  })
  beat.unref()
  const upkeep = access.keepUp === undefined ? undefined : startUpkeep(access.keepUp, Math.min(UPKEEP_MS, silentMs))
  const leaving = new AbortController()

  const ours = async (id: string): Promise<SeenCall | undefined> => {
    const now = await access.find(id)
    return now.status === 'running' && now.runner === access.runner ? now : undefined
  }
  /** Of an attempt before this one only the answer may be lost: then it is ours already. */
  const claim = async (id: string): Promise<SeenCall | undefined> => (await access.claim(id)) ?? (await ours(id))
  /** Nobody takes a call from a process that is heard, so what it does not run must not stay its own. */
  const giveBack = async (id: string): Promise<void> => {
    const claimed = await whileUnavailable(() => ours(id), leaving.signal)
    if (claimed !== undefined) await deliverCompletion(access, claimed, NOT_BEGUN, leaving.signal)
  }
  const inTheBackground = (id: string, work: Promise<unknown>): void => {
    void work.catch(() => undefined).finally(() => taken.delete(id))
  }

  return {
    take: async (id, ended) => {
      if (!lease.isHeld() && !(await lease.renew())) throw lost()
      // Twice at once in this process: the other one has it.
      if (taken.has(id)) return undefined
      taken.set(id, ended)
      const claimed = await whileUnavailable(() => claim(id), AbortSignal.timeout(CLAIM_MS)).catch((error: unknown) => {
        inTheBackground(id, giveBack(id))
        throw error
      })
      if (claimed === undefined) {
        taken.delete(id)
        return undefined
      }
      const over = new AbortController()
      watchClaim(claimed, (until, signal) => access.wait(id, until, signal), ended, over.signal)
      return {
        complete: async (completion) => {
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
        },
      }
    },
    close: async () => {
      clearInterval(beat)
      leaving.abort()
      await upkeep?.stop()
    },
  }
}
