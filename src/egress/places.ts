// How many connections and exchanges the calls of one runtime have at the same time. Each of them holds buffers of a
// fixed size, so these numbers bound the memory that tools can make the proxy hold by not reading.

export interface PlaceLimits {
  readonly perCall: number
  readonly perRuntime: number
  /** What every call has even where others have taken everything: no call can shut out another one. */
  readonly always: number
}

export type Leave = () => void

export interface Places {
  readonly limits: PlaceLimits
  readonly hasPlace: (callId: string) => boolean
  /** A place at once, or none. */
  readonly take: (callId: string) => Leave | undefined
  /** Waits for a place for a while, in turn; none when there is none by then, or too many wait already. */
  readonly wait: (callId: string, signal: AbortSignal) => Promise<Leave | undefined>
}

const LONGEST_WAIT = 30_000
const MOST_WAITING = 1_024

type Settle = (leave: Leave | undefined) => void

export const createPlaces = (limits: PlaceLimits, longestWait = LONGEST_WAIT): Places => {
  const taken = new Map<string, number>()
  /** By call, each in the order in which they came. */
  const waiting = new Map<string, Set<Settle>>()
  let total = 0

  const of = (callId: string): number => taken.get(callId) ?? 0
  const hasPlace = (callId: string): boolean =>
    of(callId) < limits.always || (of(callId) < limits.perCall && total < limits.perRuntime)
  const count = (callId: string, change: 1 | -1): void => {
    total += change
    const now = of(callId) + change
    if (now === 0) taken.delete(callId)
    else taken.set(callId, now)
  }
  const place = (callId: string): Leave => {
    count(callId, 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      count(callId, -1)
      callNext(callId)
    }
  }
  /**
   * Where the runtime was full, the place that became free is for the call that has waited longest since its last one.
   */
  const callNext = (callId: string): void => {
    const calls = total === limits.perRuntime - 1 ? [...waiting.keys()] : [callId]
    const next = calls.find((each) => waiting.has(each) && hasPlace(each))
    const queue = next === undefined ? undefined : waiting.get(next)
    if (next === undefined || queue === undefined) return
    waiting.delete(next)
    waiting.set(next, queue)
    const [first] = queue
    first?.(place(next))
  }
  const wait: Places['wait'] = (callId, signal) => {
    const queue = waiting.get(callId) ?? new Set<Settle>()
    if (queue.size === 0 && hasPlace(callId)) return Promise.resolve(place(callId))
    // Whoever waits holds the head of a request in memory.
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
  return { limits, hasPlace, take: (callId) => (hasPlace(callId) ? place(callId) : undefined), wait }
}
