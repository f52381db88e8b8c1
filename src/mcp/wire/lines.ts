// Lines of a byte stream. Each byte is looked at once and copied once, however long a line is.

const NEWLINE = 0x0a

/** A message beyond this ends its connection. As objects it takes many times its length. */
export const LONGEST_LINE = 64 * 1024 * 1024

export interface LineListener {
  readonly onLine: (line: string) => void
  readonly onTooLong: () => void
}

export const createLineReader = ({ onLine, onTooLong }: LineListener): ((bytes: Uint8Array) => void) => {
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
