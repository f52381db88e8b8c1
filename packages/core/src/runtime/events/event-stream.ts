// The events of one session: numbers them, records them, then passes them to listeners.
import type { CordonEvent, EventContext, EventDraft, EventOf } from './event.js'
import type { EventType } from './event-types.js'
import { recordable } from './recordable.js'

export interface EventStreamSettings {
  readonly sessionId: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newId: () => string
  /**
   * Keeps all of the events in order, or none. Listeners get an event after this resolved. If it rejects, the event was
   * not recorded, and the emitter must not continue.
   */
  readonly record?: (events: readonly CordonEvent[]) => Promise<void>
  /** Goes into every event. */
  readonly context?: EventContext
  /** Called if a listener throws. Other listeners are not affected. */
  readonly onListenerError?: (error: unknown, event: CordonEvent) => void
}

export interface EventStream {
  readonly sessionId: string
  /** Of all its events. */
  readonly context: EventContext | undefined
  /** Resolves when the event is recorded and all listeners were called. Undefined: nobody records or hears it. */
  readonly emit: (draft: EventDraft) => Promise<CordonEvent | undefined>
  /** Returns a function that removes the listener. */
  readonly on: <Type extends EventType | '*'>(type: Type, listener: Listener<Type>) => () => void
}

/** May return a promise, which is not awaited. */
export type Listener<Type extends EventType | '*'> = (
  event: Type extends EventType ? EventOf<Type> : CordonEvent,
) => unknown

interface Waiting {
  /** A copy without its number, made when it was emitted. */
  readonly event: Omit<CordonEvent, 'sequence'>
  readonly resolve: (event: CordonEvent) => void
  readonly reject: (error: unknown) => void
}

const NOBODY_HEARS = Promise.resolve(undefined)

export const createEventStream = ({
  sessionId,
  now,
  newId,
  record,
  context,
  onListenerError,
}: EventStreamSettings): EventStream => {
  const listeners = new Map<string, Set<(event: CordonEvent) => unknown>>()
  let waiting: Waiting[] = []
  let lastSequence = 0
  let pump: Promise<void> | undefined

  const isHeard = (type: EventType): boolean => listeners.has(type) || listeners.has('*')
  const tell = (event: CordonEvent): void => {
    // Copied, because a listener may add or remove listeners.
    for (const listener of [...(listeners.get(event.type) ?? []), ...(listeners.get('*') ?? [])]) {
      const failed = (error: unknown): void => {
        try {
          onListenerError?.(error, event)
        } catch {
          // Errors of this handler are ignored too.
        }
      }
      try {
        const answer = listener(event)
        if (answer instanceof Promise) answer.catch(failed)
      } catch (error) {
        failed(error)
      }
    }
  }

  /** Events get their numbers here, so that one that could not be recorded leaves no gap. */
  const recordWaiting = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    const events = batch.map(
      ({ event }, index) => Object.freeze({ ...event, sequence: lastSequence + index + 1 }) as CordonEvent,
    )
    try {
      await record?.(events)
    } catch (error) {
      for (const { reject } of batch) reject(error)
      return
    }
    lastSequence += events.length
    for (const [index, event] of events.entries()) {
      tell(event)
      batch[index]?.resolve(event)
    }
  }

  const pumpAll = async (): Promise<void> => {
    // Events of one turn of the event loop are recorded together, and so are those that arrive meanwhile.
    await Promise.resolve()
    while (waiting.length > 0) await recordWaiting()
    pump = undefined
  }

  return {
    sessionId,
    context,
    emit: (draft) => {
      if (record === undefined && !isHeard(draft.type)) return NOBODY_HEARS
      return new Promise((resolve, reject) => {
        const event = recordable({
          ...(context === undefined ? {} : { context }),
          ...draft,
          event_id: newId(),
          timestamp: new Date(now()).toISOString(),
          session_id: sessionId,
        })
        waiting.push({ event, resolve, reject })
        pump ??= pumpAll()
      })
    },
    on: (type, listener) => {
      // A new function, so that a listener that was added twice is called twice and removed once.
      const heard = (event: CordonEvent): unknown => (listener as (event: CordonEvent) => unknown)(event)
      const those = listeners.get(type) ?? new Set()
      listeners.set(type, those.add(heard))
      return () => {
        those.delete(heard)
        if (those.size === 0 && listeners.get(type) === those) listeners.delete(type)
      }
    },
  }
}
