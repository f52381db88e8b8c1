// Frames on the connection to a launcher: a byte of kind, four of length (little endian), the payload.

export type FrameToCell = 'P' | 'C' | 'I' | 'K' | 'S' | 'W' | 'T'
export type FrameFromCell = 'E' | 'o' | 'e'

const HEADER = 5

export const encodeFrame = (kind: FrameToCell, payload: Uint8Array = new Uint8Array()): Buffer => {
  const frame = Buffer.allocUnsafe(HEADER + payload.byteLength)
  frame[0] = kind.charCodeAt(0)
  frame.writeUInt32LE(payload.byteLength, 1)
  frame.set(payload, HEADER)
  return frame
}

// A launcher takes no frame beyond 64 MB, and holds one in memory as a whole.
const LARGEST_INPUT = 1 << 20

/** Input as frames; no bytes are no frame, because an empty one is the end of input. */
export const encodeInput = (stdin: Uint8Array): readonly Buffer[] =>
  Array.from({ length: Math.ceil(stdin.byteLength / LARGEST_INPUT) }, (_, at) => encodeFrame('I', stdin.subarray(at * LARGEST_INPUT, (at + 1) * LARGEST_INPUT)))

/** Cuts a stream of bytes into frames; what is incomplete waits for the next bytes. */
export const createFrameReader = (onFrame: (kind: FrameFromCell, payload: Buffer) => void): ((bytes: Buffer) => void) => {
  let pending: Buffer[] = []
  let pendingLength = 0
  let wanted = HEADER
  return (bytes) => {
    pending.push(bytes)
    pendingLength += bytes.length
    if (pendingLength < wanted) return
    let buffer = pending.length === 1 ? bytes : Buffer.concat(pending, pendingLength)
    wanted = HEADER
    while (buffer.length >= HEADER) {
      const end = HEADER + buffer.readUInt32LE(1)
      if (buffer.length < end) {
        wanted = end
        break
      }
      onFrame(String.fromCharCode(buffer[0] ?? 0) as FrameFromCell, buffer.subarray(HEADER, end))
      buffer = buffer.subarray(end)
    }
    pending = buffer.length === 0 ? [] : [buffer]
    pendingLength = buffer.length
  }
}
