// Counts the connections and exchanges of a runtime's calls. Each holds buffers of a fixed size, so these limits bound
// the memory that tools which do not read can occupy.

export interface SlotLimits {
  readonly perCall: number
  readonly perRuntime: number
  /** Slots that every call has, so that no call can shut out another. */
  readonly always: number
}

export type Leave = () => void

export interface Slots {
  readonly limits: SlotLimits
  readonly hasSlot: (callId: string) => boolean
  readonly take: (callId: string) => Leave | undefined
  /** Waits for a slot, in turn. Undefined after a while, or if too many wait already. */
  readonly wait: (callId: string, signal: AbortSignal) => Promise<Leave | undefined>
}

const LONGEST_WAIT = 30_000
const MOST_WAITING = 1_024

type Settle = (leave: Leave | undefined) => void

export const createSlots = (limits: SlotLimits, longestWait = LONGEST_WAIT): Slots => {
  const taken = new Map<string, number>()
  /** By call, in order of arrival. */
  const waiting = new Map<string, Set<Settle>>()
  let total = 0

  const of = (callId: string): number => taken.get(callId) ?? 0
  const hasSlot = (callId: string): boolean =>
    of(callId) < limits.always || (of(callId) < limits.perCall && total < limits.perRuntime)
  const count = (callId: string, change: 1 | -1): void => {
    total += change
    const now = of(callId) + change
    if (now === 0) taken.delete(callId)
    else taken.set(callId, now)
  }
  const slot = (callId: string): Leave => {
    count(callId, 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      count(callId, -1)
      callNext(callId)
    }
  }
  /** If the runtime was full, the free slot goes to the call that has waited longest since its last one. */
  const callNext = (callId: string): void => {
    const calls = total === limits.perRuntime - 1 ? [...waiting.keys()] : [callId]
    const next = calls.find((each) => waiting.has(each) && hasSlot(each))
    const queue = next === undefined ? undefined : waiting.get(next)
    if (next === undefined || queue === undefined) return
    waiting.delete(next)
    waiting.set(next, queue)
    const [first] = queue
    first?.(slot(next))
  }
  const wait: Slots['wait'] = (callId, signal) => {
    const queue = waiting.get(callId) ?? new Set<Settle>()
    if (queue.size === 0 && hasSlot(callId)) return Promise.resolve(slot(callId))
    // Each waiting request is held in memory.
    if (queue.size >= MOST_WAITING || signal.aborted) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const settle: Settle = (leave) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        queue.delete(settle)
        if (queue.size === 0) waiting.delete(callId)
        resolve(leave)
      }
      const giveUp = (): void => {
        settle(undefined)
      }
      const timer = setTimeout(giveUp, longestWait)
      signal.addEventListener('abort', giveUp, { once: true })
      waiting.set(callId, queue.add(settle))
    })
  }
  return { limits, hasSlot, take: (callId) => (hasSlot(callId) ? slot(callId) : undefined), wait }
}
