import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { FROM_CELL, TO_CELL, createFrameReader, encodeFrame, encodeInput } from '../../src/sandbox/frames.js'

interface Frame {
  readonly kind: string
  readonly payload: Buffer
}

const readAll = (chunks: readonly Buffer[]): readonly Frame[] => {
  const frames: Frame[] = []
  const read = createFrameReader(TO_CELL, (kind, payload) => frames.push({ kind, payload: Buffer.from(payload) }))
  for (const chunk of chunks) read(chunk)
  return frames
}

/** The bytes in pieces, cut wherever the numbers say. */
const cut = (bytes: Buffer, places: readonly number[]): readonly Buffer[] => {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length))
}

const frame = fc.record({ kind: fc.constantFrom(...Object.values(TO_CELL)), payload: fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)) })

describe('frames', () => {
  it('are read as they were written, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 12 }), (frames, places) => {
        const bytes = Buffer.concat(frames.map(({ kind, payload }) => encodeFrame(kind, payload)))
        expect(readAll(cut(bytes, places))).toEqual(frames)
      }),
    )
  })

  it('are not told before they are whole', () => {
    fc.assert(
      fc.property(frame, fc.nat(), ({ kind, payload }, end) => {
        const bytes = encodeFrame(kind, payload)
        expect(readAll([bytes.subarray(0, end % bytes.length)])).toEqual([])
      }),
    )
  })

  it('of an unknown kind are an error', () => {
    expect(() => {
      createFrameReader(FROM_CELL, () => undefined)(encodeFrame(TO_CELL.plan))
    }).toThrow('unknown kind')
  })

  it('without a payload are five bytes: the kind, and a length of nothing', () => {
    expect([...encodeFrame('K')]).toEqual([0x4b, 0, 0, 0, 0])
  })
})

describe('input in frames', () => {
  it.each([0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 * (1 << 20)])('of %i bytes is whole, in frames that a launcher takes, none of them the empty one that ends it', (length) => {
    const stdin = Buffer.alloc(length, 'cordon')
    const frames = readAll(encodeInput(stdin))
    expect(Buffer.concat(frames.map(({ payload }) => payload)).equals(stdin)).toBe(true)
    expect(frames.every(({ kind, payload }) => kind === 'I' && payload.length > 0 && payload.length <= 1 << 20)).toBe(true)
  })
})
