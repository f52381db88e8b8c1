// The client of the gateway, on stdin and stdout. A slow client must not block this process.
import { openOutput, STDOUT } from 'cordon/commands'

import { createLineReader, lineForClient } from '../gateway/index.js'
import type { SendToClient } from '../wire/messages.js'

export interface Client {
  readonly send: SendToClient
  /** Passes on its lines. Settles when it has closed its end, or at a signal. */
  readonly read: (onLine: (line: string) => void) => Promise<void>
  readonly end: () => Promise<void>
}

/** Resolves at SIGTERM, SIGINT or SIGHUP. */
export const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, resolve)
  })

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

export const openClient = (): Client => {
  let leave: () => void = () => undefined
  const gone = new Promise<void>((resolve) => {
    leave = resolve
  })
  const output = openOutput(STDOUT, () => {
    leave()
  })
  return {
    send: (message) => output.write(lineForClient(message)),
    read: async (onLine) => {
      const read = createLineReader({ onLine, onTooLong: leave })
      process.stdin.on('data', read).on('end', leave).on('error', leave)
      await Promise.race([gone, untilSignal()])
      process.stdin.destroy()
    },
    end: () => output.end(true),
  }
}
