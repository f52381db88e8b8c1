import type { Duplex } from 'node:stream'

const PATIENCE = 2_000
const MOST = 16 << 20

/**
 * Ends a stream so that the last words arrive: what the other side is still sending is read and thrown
 * away for a while, because closing over unread bytes would take back what was just said.
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
