import type { Duplex, Readable, Writable } from 'node:stream'

import type { Redactor } from '../redaction/redactor.js'

export interface RelayedBytes {
  readonly sent: number
  readonly received: number
}

export interface RelayOptions {
  readonly redactor?: Redactor | undefined
  /** Whether a piece of the tool's bytes may pass. Otherwise both sides are closed. */
  readonly mayPass?: ((chunk: Buffer) => boolean) | undefined
}

/** Passes bytes both ways until both sides have ended or one breaks. An end in one direction is passed on. */
export const relay = async (
  tool: Duplex,
  server: Duplex,
  { redactor, mayPass }: RelayOptions = {},
): Promise<RelayedBytes> => {
  let [sent, received] = [0, 0]
  const stop = (): void => {
    tool.destroy()
    server.destroy()
  }
  if (tool.destroyed || server.destroyed) stop()
  else
    await Promise.all([
      pass(tool, server, (chunk) => {
        if (mayPass?.(chunk) === false) return undefined
        sent += chunk.length
        return chunk
      }).catch(stop),
      pass(
        server,
        tool,
        (chunk) => {
          received += chunk.length
          return redactor === undefined ? chunk : redactor.push(chunk)
        },
        () => redactor?.end(),
      ).catch(stop),
    ])
  return { sent, received }
}

const pass = (
  from: Readable,
  to: Writable,
  change: (chunk: Buffer) => Buffer | undefined,
  last?: () => Buffer | undefined,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const goOn = (): void => {
      from.resume()
    }
    from.on('data', (chunk: Buffer) => {
      let changed: Buffer | undefined
      try {
        changed = change(chunk)
      } catch (error) {
        reject(error instanceof Error ? error : new Error('refused'))
        return
      }
      if (to.destroyed || to.writableEnded) return
      if (changed === undefined) {
        reject(new Error('refused'))
        return
      }
      if (changed.length > 0 && !to.write(changed)) from.pause()
    })
    to.on('drain', goOn)
    const endToo = (): void => {
      const rest = last?.()
      // Settles when the last byte is written, so that closing loses nothing.
      if (to.destroyed || to.writableEnded) resolve()
      else to.end(rest === undefined || rest.length === 0 ? undefined : rest, resolve)
    }
    if (from.readableEnded) endToo()
    else from.once('end', endToo)
    from.once('error', reject)
    to.once('error', reject)
    // Closed without an end: broken.
    from.once('close', () => {
      if (!from.readableEnded) reject(new Error('closed'))
    })
    to.once('close', () => {
      if (!to.writableFinished) reject(new Error('closed'))
    })
  })
