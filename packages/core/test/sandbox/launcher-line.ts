// A launcher, what its host tells it, and the events that it answers with.
import type { Duplex } from 'node:stream'

import { FROM_CELL, TO_CELL, createFrameReader, encodeFrame } from '../../src/sandbox/frames.js'
import { findLauncher } from '../../src/sandbox/index.js'
import { spawnLauncher } from '../../src/sandbox/launch/nursery.js'
import { encodePlan } from '../../src/sandbox/plan/encode-plan.js'
import { parseCellEvent } from '../../src/sandbox/result/events.js'

import { planWith } from './plans.js'

export type Plan = ReturnType<typeof planWith>
export type CellEvent = ReturnType<typeof parseCellEvent>

export const startLauncher = (): Duplex => spawnLauncher(findLauncher(), planWith().stdio).connection

export const tell = (line: Duplex, what: keyof typeof TO_CELL, bytes: Uint8Array): void => {
  line.write(encodeFrame(TO_CELL[what], bytes))
}

export const tellPlan = (line: Duplex, plan: Plan): void => {
  tell(line, 'plan', encodePlan(plan))
}

export const onEvent = (line: Duplex, heard: (event: CellEvent) => void): void => {
  const read = createFrameReader(FROM_CELL, (_kind, payload) => {
    heard(parseCellEvent(payload))
  })
  line.on('data', read)
}
