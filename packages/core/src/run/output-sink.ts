// Output of a command that passes through this process, because it is counted. A slow reader must not block this
// process, which also serves clocks, signals and connections.
import { constants, fstatSync, openSync } from 'node:fs'
import { Socket } from 'node:net'

import { PLATFORM } from '../platform/index.js'

import { writeFully } from '../line/text/console-text.js'

export interface OutputSink {
  /** Undefined if more may follow at once. Otherwise it settles when the reader has caught up. */
  readonly write: (bytes: Uint8Array) => Promise<void> | undefined
  /** Settles when everything was read. In a hurry it waits only a moment. */
  readonly end: (isHurried: boolean) => Promise<void>
}

const MOMENT_MS = 1_000

/** `onGone` is called once, when nobody reads any more. */
export const openOutput = (descriptor: number, onGone: () => void): OutputSink => {
  const pipe = pipeTo(descriptor)
  let hasReader = true
  const gone = (): void => {
    if (hasReader) onGone()
    hasReader = false
  }
  if (pipe === undefined) {
    // A file or a device does not block.
    return {
      write: (bytes) => {
        if (hasReader && !writeFully(descriptor, bytes)) gone()
        return undefined
      },
      end: () => Promise.resolve(),
    }
  }
  pipe.on('error', gone)
  pipe.on('close', gone)
  let waiting: Promise<void> | undefined
  const caughtUp = (): Promise<void> =>
    (waiting ??= new Promise((resolve) => {
      const settle = (): void => {
        waiting = undefined
        pipe.off('drain', settle).off('close', settle)
        resolve()
      }
      pipe.on('drain', settle).on('close', settle)
    }))
  return {
    write: (bytes) => {
      if (!hasReader) return undefined
      // A copy, because the buffer is reused.
      return pipe.write(Buffer.from(bytes)) ? undefined : caughtUp()
    },
    end: async (isHurried) => {
      const written = new Promise<void>((resolve) => {
        if (pipe.destroyed) resolve()
        else
          pipe.write('', () => {
            resolve()
          })
      })
      const timer = isHurried ? setTimeout(() => pipe.destroy(), MOMENT_MS) : undefined
      await Promise.race([
        written,
        new Promise<void>((resolve) =>
          pipe.once('close', () => {
            resolve()
          }),
        ),
      ])
      clearTimeout(timer)
    },
  }
}

/** A non-blocking socket. Undefined if the descriptor is neither a pipe nor a socket. */
const pipeTo = (descriptor: number): Socket | undefined => {
  const status = fstatSync(descriptor)
  if (!status.isFIFO() && !status.isSocket()) return undefined
  return new Socket({ fd: status.isFIFO() ? reopened(descriptor) : descriptor, readable: false, writable: true })
}

/**
 * Opens the pipe again, because O_NONBLOCK on the shared one would affect other programs. A socket, or a pipe of
 * another user, cannot be opened again. There Node resets the flag when this process ends.
 */
const reopened = (descriptor: number): number => {
  const path = PLATFORM.pathOfDescriptor(descriptor)
  if (path === undefined) return descriptor
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return descriptor
  }
}
