// The events of one session: numbers them, records them, then passes them to listeners.
import { bug } from '../../errors/index.js'

import type { EventType } from './event-parts.js'
import { createBatches } from './batches.js'
import type { CordonEvent, EventContext, EventDraft, EventOf } from './event.js'
import { cut, redactText } from './redact.js'

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
  let lastSequence = 0

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
  const batches = createBatches(async (emitted: readonly Omit<CordonEvent, 'sequence'>[]) => {
    const events = emitted.map(
      (event, index) => Object.freeze({ ...event, sequence: lastSequence + index + 1 }) as CordonEvent,
    )
    await record?.(events)
    lastSequence += events.length
    events.forEach(tell)
    return events
  })

  return {
    sessionId,
    context,
    emit: (draft) => {
      if (record === undefined && !isHeard(draft.type)) return NOBODY_HEARS
      return new Promise((resolve) => {
        // A copy, made now: its maker may change the draft.
        const event = recordable({
          ...(context === undefined ? {} : { context }),
          ...draft,
          event_id: newId(),
          timestamp: new Date(now()).toISOString(),
          session_id: sessionId,
        })
        resolve(batches.add(event))
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

const MAX_DEPTH = 64
/** Tools determine some texts of an event: error messages, names of files and hosts. */
const MAX_TEXT = 16 * 1024

/**
 * A frozen copy of nothing but JSON, so that the record and the listeners get the same, and nobody can change it. Long
 * texts are cut, and text that looks like a secret is redacted.
 */
const recordable = <Value>(value: Value): Value => copy(value, 0) as Value

const copy = (value: unknown, depth: number): unknown => {
  if (depth > MAX_DEPTH) return bug(`an event is nested more than ${MAX_DEPTH} deep`)
  switch (typeof value) {
    case 'string':
      return redactText(cut(value, MAX_TEXT))
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'object':
      if (value === null) return null
      return Object.freeze(
        Array.isArray(value)
          ? value.map((item) => copy(item, depth + 1))
          : copyMapping(value as Readonly<Record<string, unknown>>, depth),
      )
    default:
      return null
  }
}

// A loop, because it is fast and runs for every event.
const copyMapping = (mapping: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> => {
  const copied: Record<string, unknown> = {}
  // Sorted, so that JSON.stringify writes canonical JSON.
  for (const key of Object.keys(mapping).sort()) {
    // Setting __proto__ would change the prototype of the copy.
    if (key !== '__proto__' && mapping[key] !== undefined) copied[key] = copy(mapping[key], depth + 1)
  }
  return copied
}
