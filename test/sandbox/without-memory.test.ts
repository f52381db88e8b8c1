// A launcher that gets no memory ends, and says so; see "Without memory" in docs/inside/cell.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'

import { describe, expect, test } from 'vitest'

import { FROM_CELL, TO_CELL, TO_WATCHER, createFrameReader, encodeFrame } from '../../src/sandbox/frames.js'
import { findLauncher } from '../../src/sandbox/host/launcher.js'
import { parseCellEvent } from '../../src/sandbox/result/events.js'

const ALL_MEMORY = 32 << 20
const TOO_MUCH = 60 << 20

/** How a launcher with little memory ended that heard of a frame of this size, and the stages it told before. */
const end = async (words: readonly string[], kind: Parameters<typeof encodeFrame>[0], size: number) => {
  const child = spawn('prlimit', [`--as=${String(ALL_MEMORY)}`, '--', findLauncher(), ...words], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const line = child.stdio[3] as Duplex
  const stages: string[] = []
  const read = createFrameReader(FROM_CELL, (_kind, payload) => {
    const event = parseCellEvent(payload)
    if (event.event === 'error') stages.push(event.stage)
    line.end()
  })
  line.on('data', read).on('error', () => undefined)
  const frame = encodeFrame(kind)
  frame.writeUInt32LE(size, 1)
  line.write(frame)
  if (size < ALL_MEMORY) line.end(Buffer.alloc(size))
  const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
  return { status, signal, stages }
}

describe('a frame that the memory is too small for', () => {
  test('ends a cell with an error of the stage `memory`', async () => {
    expect(await end([], TO_CELL.plan, TOO_MUCH)).toEqual({ status: 125, signal: null, stages: ['memory'] })
  })

  test('ends the watcher, which does not take it for the end of its host', async () => {
    expect(await end(['watcher'], TO_WATCHER.names, TOO_MUCH)).toEqual({ status: 125, signal: null, stages: [] })
  })
})

test('a frame that fits is read', async () => {
  expect(await end([], TO_CELL.plan, 1)).toEqual({ status: 125, signal: null, stages: ['plan'] })
})
