// The one assembly of a gate on this host: a runtime, `cordon run` and `cordon hook` call it with their rules, mode and
// approvals. The record is opened by itself, because the gate of a runtime is replaced, and its record goes on.
import { randomUUID } from 'node:crypto'

import { createGate } from '../../gate/index.js'
import type { Gate, GateSettings } from '../../gate/index.js'

import { createEventStream } from '../events/event-stream.js'
import type { EventStream, EventStreamSettings } from '../events/event-stream.js'
import { listOnHost, resolveOnHost } from '../settings/host-paths.js'

type GateParts = Pick<GateSettings, 'tools' | 'ruleSets' | 'mode' | 'sessionId' | 'isInteractive'> &
  Partial<Omit<GateSettings, 'listFolder' | 'now' | 'newId' | 'wait'>>

export const openGate = (parts: GateParts): Gate =>
  createGate({
    hooks: [],
    policySources: [],
    resolvePath: resolveOnHost,
    ...parts,
    listFolder: listOnHost,
    now: Date.now,
    newId: randomUUID,
    wait,
  })

export const openRecord = (settings: Partial<Omit<EventStreamSettings, 'now' | 'newId'>>): EventStream =>
  createEventStream({ sessionId: randomUUID(), ...settings, now: Date.now, newId: randomUUID })

const wait = (milliseconds: number) => {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  return {
    over,
    cancel: () => {
      clearTimeout(timer)
    },
  }
}
