// The streams of the gateway itself: its client on stdin and stdout, and what servers write to stderr. A slow reader
// must not block this process.
import { STDERR, STDOUT, openOutput, visible } from 'cordon/commands'

import { createLineReader, lineForClient } from '../wire/lines.js'
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
      const read = createLineReader(onLine, leave)
      process.stdin.on('data', read).on('end', leave).on('error', leave)
      await Promise.race([gone, untilSignal()])
      process.stdin.destroy()
    },
    end: () => output.end(true),
  }
}

/** A longer line is cut into several. */
const LONGEST = 8_192
const NEWLINE = 0x0a

/**
 * Each line of a server has its name, and no characters that hide or move text: none can pass for a line of Cordon.
 * Lines are dropped while nobody reads them, so that no server waits for that.
 */
export const passStderr = (): ((server: string, bytes: Uint8Array) => void) => {
  const output = openOutput(STDERR, () => undefined)
  const begun = new Map<string, Buffer>()
  let isFull = false
  const write = (server: string, line: Uint8Array): void => {
    const text = Buffer.from(line).toString('utf8').replace(/\r$/, '').replaceAll('\t', '  ')
    if (isFull || text === '') return
    const slow = output.write(Buffer.from(`[${server}] ${visible(text)}\n`))
    isFull = slow !== undefined
    void slow?.then(() => {
      isFull = false
    })
  }
  return (server, bytes) => {
    let rest = Buffer.concat([begun.get(server) ?? Buffer.alloc(0), bytes])
    for (;;) {
      const end = rest.subarray(0, LONGEST + 1).indexOf(NEWLINE)
      if (end === -1 && rest.length <= LONGEST) break
      write(server, rest.subarray(0, end === -1 ? LONGEST : end))
      rest = rest.subarray(end === -1 ? LONGEST : end + 1)
    }
    begun.set(server, rest)
  }
}
