// Lines of a byte stream. Each byte is looked at once and copied once, however long a line is.
import { fail } from '../errors/errors.js'

const NEWLINE = 0x0a

/** A message beyond this ends its connection. As objects it takes many times its length. */
export const LONGEST_LINE = 64 * 1024 * 1024

/** Clients of the official SDK end their session beyond 10 MiB, with what they read of the next line at once. */
const LONGEST_FOR_CLIENTS = 10 * 1024 * 1024 - 128 * 1024

/** A message as a line for a client on a pipe. Throws if the client could not take it. */
export const lineForClient = (message: object): Buffer => {
  const line = Buffer.from(`${JSON.stringify(message)}\n`)
  if (line.length > LONGEST_FOR_CLIENTS)
    throw fail('mcp-message-too-long', { bytes: line.length, most: LONGEST_FOR_CLIENTS })
  return line
}

export const createLineReader = (
  onLine: (line: string) => void,
  onTooLong: () => void,
): ((bytes: Uint8Array) => void) => {
  let pieces: Uint8Array[] = []
  let length = 0
  let isTooLong = false
  const finish = (last: Uint8Array): void => {
    const whole = pieces.length === 0 ? asBuffer(last) : Buffer.concat([...pieces, last], length + last.length)
    pieces = []
    length = 0
    if (whole.length > 0) onLine(whole.toString('utf8'))
  }
  return (bytes) => {
    let at = 0
    while (!isTooLong) {
      const end = bytes.indexOf(NEWLINE, at)
      if (end === -1) break
      finish(bytes.subarray(at, end))
      at = end + 1
    }
    const rest = bytes.subarray(at)
    length += rest.length
    if (isTooLong || rest.length === 0) return
    isTooLong = length > LONGEST_LINE
    // The rest of the stream is of no use: nobody knows where the next message begins.
    if (isTooLong) {
      pieces = []
      onTooLong()
    } else pieces.push(rest)
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
