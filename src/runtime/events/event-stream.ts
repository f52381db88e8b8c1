import type { CordonEvent, EventContext, EventDraft, EventOf } from './event.js'
import type { EventType } from './event-types.js'
import { recordable } from './recordable.js'

export interface EventStreamSettings {
  readonly sessionId: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newId: () => string
  /**
   * Keeps events, in order; all of them or none. Nobody hears of an event before this has answered, and
   * when it rejects, the event was not recorded, and the emitter must not continue.
   */
  readonly record?: (events: readonly CordonEvent[]) => Promise<void>
  /** Goes into every event. */
  readonly context?: EventContext
  /** Hears of listeners that threw; they disturb nobody else. */
  readonly onListenerError?: (error: unknown, event: CordonEvent) => void
}

export interface EventStream {
  readonly sessionId: string
  /** Answers when the event is recorded and was told to all listeners. */
  readonly emit: (draft: EventDraft) => Promise<CordonEvent>
  /** Returns what ends it. */
  readonly on: <Type extends EventType | '*'>(type: Type, listener: Listener<Type>) => () => void
  /** Answers when everything emitted so far is recorded or was refused. */
  readonly settled: () => Promise<void>
}

/** May return a promise; nobody waits for it. */
export type Listener<Type extends EventType | '*'> = (
  event: Type extends EventType ? EventOf<Type> : CordonEvent,
) => unknown

interface Waiting {
  /** Copied when it was emitted; all but its number. */
  readonly event: Omit<CordonEvent, 'sequence'>
  readonly resolve: (event: CordonEvent) => void
  readonly reject: (error: unknown) => void
}

/** The events of one session, numbered without gaps. */
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

  const tell = (event: CordonEvent): void => {
    // Copied, because a listener may add or remove some.
    for (const listener of [...(listeners.get(event.type) ?? []), ...(listeners.get('*') ?? [])]) {
      const failed = (error: unknown): void => {
        try {
          onListenerError?.(error, event)
        } catch {
          // It is about errors of listeners, and is one itself.
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

  /** Numbers are given to what is about to be recorded, so that what could not be leaves no gap. */
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
    // What is emitted in the same turn is recorded in one go, and so is what arrives in the meantime.
    await Promise.resolve()
    while (waiting.length > 0) await recordWaiting()
    pump = undefined
  }

  return {
    sessionId,
    emit: (draft) =>
      new Promise((resolve, reject) => {
        const event = recordable({
          ...(context === undefined ? {} : { context }),
          ...draft,
          event_id: newId(),
          timestamp: new Date(now()).toISOString(),
          session_id: sessionId,
        })
        waiting.push({ event, resolve, reject })
        pump ??= pumpAll()
      }),
    on: (type, listener) => {
      // A name of its own, so that one function registered twice is heard twice and removed once.
      const heard = (event: CordonEvent): unknown => (listener as (event: CordonEvent) => unknown)(event)
      const those = listeners.get(type) ?? new Set()
      listeners.set(type, those.add(heard))
      return () => {
        those.delete(heard)
      }
    },
    settled: async () => {
      while (pump !== undefined) await pump
    },
  }
}
