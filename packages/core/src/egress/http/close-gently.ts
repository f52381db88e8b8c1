import type { Duplex } from 'node:stream'

const PATIENCE = 2_000
const MOST = 16 << 20

/**
 * Ends a stream so that the last bytes arrive. What the other side still sends is read and dropped for a while: closing
 * over unread bytes would discard what was just sent.
 */
export const closeGently = async (stream: Duplex): Promise<void> => {
  if (stream.destroyed) return
  if (!stream.writableEnded) stream.end()
  await new Promise<void>((resolve) => {
    let dropped = 0
    const timer = setTimeout(resolve, PATIENCE)
    const settle = (): void => {
      if (!stream.writableFinished && !stream.destroyed) return
      if (!stream.readableEnded && !stream.destroyed) return
      clearTimeout(timer)
      resolve()
    }
    stream.on('data', (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped > MOST) stream.destroy()
    })
    stream.on('end', settle).on('finish', settle).on('close', settle)
    stream.resume()
    settle()
  })
  stream.destroy()
}
