import type { Duplex } from 'node:stream'

const EMPTY: Buffer = Buffer.alloc(0)

/** Reads a stream no further than asked, so that the rest stays with the sender. */
export interface ByteReader {
  readonly peek: () => Buffer
  /** Waits until `peek` shows more. False at the end of the stream. */
  readonly more: () => Promise<boolean>
  readonly take: (count: number) => Buffer
  /** Undefined at the end. */
  readonly next: (limit: number) => Promise<Buffer | undefined>
  /** Returns the rest to the stream, for another reader. */
  readonly release: () => void
}

export const readBytes = (stream: Duplex): ByteReader => {
  let held: Buffer = EMPTY
  /**
   * The buffer of `held` when it was joined, with room behind it, so that small pieces are not copied again and again.
   */
  let room: Buffer = EMPTY
  let end = 0
  let problem: Error | undefined
  let wake: (() => void) | undefined

  const onChange = (): void => {
    const waiting = wake
    wake = undefined
    waiting?.()
  }
  const onError = (error: Error): void => {
    problem = error
    onChange()
  }
  stream.on('readable', onChange).on('end', onChange).on('close', onChange).on('error', onError)

  const arrived = async (): Promise<Buffer | undefined> => {
    for (;;) {
      const chunk = stream.read() as Buffer | null
      if (chunk !== null) return chunk
      if (problem !== undefined) throw problem
      if (stream.readableEnded || stream.destroyed) return undefined
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const joined = (chunk: Buffer): Buffer => {
    const isOwn = held.buffer === room.buffer && held.byteOffset + held.length === room.byteOffset + end
    if (!isOwn || end + chunk.length > room.length) {
      room = Buffer.allocUnsafeSlow(2 * (held.length + chunk.length))
      end = held.copy(room)
      held = room.subarray(0, end)
    }
    chunk.copy(room, end)
    end += chunk.length
    return room.subarray(held.byteOffset - room.byteOffset, end)
  }
  const take = (count: number): Buffer => {
    const taken = held.subarray(0, count)
    held = held.length === taken.length ? EMPTY : held.subarray(count)
    return taken
  }
  return {
    peek: () => held,
    more: async () => {
      const chunk = await arrived()
      if (chunk === undefined) return false
      held = held.length === 0 ? chunk : joined(chunk)
      return true
    },
    take,
    next: async (limit) => {
      if (held.length === 0) held = (await arrived()) ?? EMPTY
      return held.length === 0 ? undefined : take(Math.min(limit, held.length))
    },
    release: () => {
      stream.off('readable', onChange).off('end', onChange).off('close', onChange).off('error', onError)
      if (held.length > 0 && !stream.destroyed && !stream.readableEnded) stream.unshift(held)
      held = EMPTY
    },
  }
}
