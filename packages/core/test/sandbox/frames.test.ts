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

const frame = fc.record({
  kind: fc.constantFrom(...Object.values(TO_CELL)),
  payload: fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
})

const encodeAny = (kind: string, payload: Buffer): Buffer => encodeFrame(kind as 'P', payload)

const sizeOf = (frames: readonly Frame[], wanted: string): number =>
  frames.reduce((sum, { kind, payload }) => sum + (kind === wanted ? payload.length : 0), 0)

/** How many bytes of streams lie in so many bytes of frames. */
const streamedIn = (frames: readonly Frame[], arrived: number): number => {
  let at = 0
  return frames.reduce((sum, { kind, payload }) => {
    const [from, to] = [at + 5, at + 5 + payload.length]
    at = to
    return kind === 'E' ? sum : sum + Math.max(0, Math.min(arrived, to) - from)
  }, 0)
}

describe('frames', () => {
  it('are read as written, for any cuts of the stream', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 12 }), (frames, places) => {
        const bytes = Buffer.concat(frames.map(({ kind, payload }) => encodeFrame(kind, payload)))
        expect(readAll(cut(bytes, places))).toEqual(frames)
      }),
    )
  })

  it('are delivered only when complete', () => {
    fc.assert(
      fc.property(frame, fc.nat(), ({ kind, payload }, end) => {
        const bytes = encodeFrame(kind, payload)
        expect(readAll([bytes.subarray(0, end % bytes.length)])).toEqual([])
      }),
    )
  })

  it('that may be delivered in pieces arrive at once, with the same bytes in the same order', () => {
    const streamed = fc.record({
      kind: fc.constantFrom(...Object.values(FROM_CELL)),
      payload: fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
    })
    fc.assert(
      fc.property(fc.array(streamed, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 12 }), (frames, places) => {
        const told: Frame[] = []
        let arrived = 0
        const read = createFrameReader(
          FROM_CELL,
          (kind, payload) => told.push({ kind, payload: Buffer.from(payload) }),
          ['o', 'e'],
        )
        // Each kind of stream by itself; whole events in between keep their place.
        const written = (list: readonly Frame[]) =>
          list.reduce<Frame[]>((sum, { kind, payload }) => {
            const last = sum.at(-1)
            if (kind !== 'E' && payload.length === 0) return sum
            if (kind === 'E' || last?.kind !== kind) return [...sum, { kind, payload }]
            return [...sum.slice(0, -1), { kind, payload: Buffer.concat([last.payload, payload]) }]
          }, [])
        const bytes = Buffer.concat(frames.map(({ kind, payload }) => encodeAny(kind, payload)))
        for (const chunk of cut(bytes, places)) {
          read(chunk)
          arrived += chunk.length
          expect(sizeOf(told, 'o') + sizeOf(told, 'e')).toBe(streamedIn(frames, arrived))
        }
        expect(written(told)).toEqual(written(frames))
      }),
    )
  })

  it('of an unknown kind are an error', () => {
    expect(() => {
      createFrameReader(FROM_CELL, () => undefined)(encodeFrame(TO_CELL.plan))
    }).toThrow('unknown kind')
  })

  it('without a payload have five bytes: the kind, and the length zero', () => {
    expect([...encodeFrame('K')]).toEqual([0x4b, 0, 0, 0, 0])
  })
})

describe('input in frames', () => {
  it.each([0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 * (1 << 20)])(
    'of %i bytes is complete, and no frame is empty, because an empty one ends it',
    (length) => {
      const stdin = Buffer.alloc(length, 'cordon')
      const frames = readAll(encodeInput(stdin))
      expect(Buffer.concat(frames.map(({ payload }) => payload)).equals(stdin)).toBe(true)
      expect(frames.every(({ kind, payload }) => kind === 'I' && payload.length > 0 && payload.length <= 1 << 20)).toBe(
        true,
      )
    },
  )
})
