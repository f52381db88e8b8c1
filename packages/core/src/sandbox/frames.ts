// Frames on the connection to a launcher: one byte of kind, four of length (little endian), the payload.
// docs/protocol.md describes the payloads.
import { bug } from '../errors/index.js'

export const TO_CELL = {
  wall: 'L',
  headStart: 'H',
  plan: 'P',
  command: 'C',
  input: 'I',
  kill: 'K',
  signal: 'S',
  window: 'W',
  takeTerminal: 'T',
  begin: 'B',
} as const
export const FROM_CELL = { event: 'E', stdout: 'o', stderr: 'e' } as const
export const TO_WATCHER = { names: 'N', begin: 'B', hold: 'H', otherNames: 'L', go: 'G', end: 'X' } as const
export const FROM_WATCHER = { found: 'F', done: 'D', aside: 'A' } as const

type LetterOf<Frames> = Frames[keyof Frames]
export type FrameToCell = LetterOf<typeof TO_CELL>
export type FrameToWatcher = LetterOf<typeof TO_WATCHER>

const HEADER = 5

export const encodeFrame = (kind: FrameToCell | FrameToWatcher, payload: Uint8Array = new Uint8Array()): Buffer => {
  const frame = Buffer.allocUnsafe(HEADER + payload.byteLength)
  frame[0] = kind.charCodeAt(0)
  frame.writeUInt32LE(payload.byteLength, 1)
  frame.set(payload, HEADER)
  return frame
}

// A launcher holds a whole frame in memory, and accepts at most 64 MB.
const LARGEST_INPUT = 1 << 20

/** Input as frames. An empty frame would end the input, so empty input has no frame. */
export const encodeInput = (stdin: Uint8Array): readonly Buffer[] =>
  Array.from({ length: Math.ceil(stdin.byteLength / LARGEST_INPUT) }, (_, at) =>
    encodeFrame(TO_CELL.input, stdin.subarray(at * LARGEST_INPUT, (at + 1) * LARGEST_INPUT)),
  )

/**
 * Cuts a stream of bytes into frames. An incomplete frame waits for more bytes, except kinds in `inPieces`, which are
 * streams themselves. Throws at an unknown kind.
 */
export const createFrameReader = <Kind extends string>(
  kinds: Readonly<Record<string, Kind>>,
  onFrame: (kind: Kind, payload: Buffer) => void,
  inPieces: readonly NoInfer<Kind>[] = [],
): ((bytes: Buffer) => void) => {
  const known = Object.values(kinds)
  const kindOf = (letter: string): Kind =>
    known.find((kind) => kind === letter) ??
    bug(`the launcher sent a frame of the unknown kind ${JSON.stringify(letter)}`)
  let pending: Buffer[] = []
  let pendingLength = 0
  let wanted = HEADER
  let begun: { readonly kind: Kind; readonly left: number } | undefined

  /** Returns the bytes of the next frame. */
  const tellPiece = (kind: Kind, length: number, bytes: Buffer): Buffer => {
    const piece = bytes.subarray(0, length)
    begun = piece.length < length ? { kind, left: length - piece.length } : undefined
    if (piece.length > 0 || length === 0) onFrame(kind, piece)
    return bytes.subarray(piece.length)
  }
  return (arrived) => {
    const bytes = begun === undefined ? arrived : tellPiece(begun.kind, begun.left, arrived)
    pending.push(bytes)
    pendingLength += bytes.length
    if (pendingLength < wanted) return
    let buffer = pending.length === 1 ? bytes : Buffer.concat(pending, pendingLength)
    wanted = HEADER
    while (buffer.length >= HEADER) {
      const kind = kindOf(String.fromCharCode(buffer[0] ?? 0))
      const length = buffer.readUInt32LE(1)
      if (inPieces.includes(kind)) {
        buffer = tellPiece(kind, length, buffer.subarray(HEADER))
        continue
      }
      const end = HEADER + length
      if (buffer.length < end) {
        wanted = end
        break
      }
      onFrame(kind, buffer.subarray(HEADER, end))
      buffer = buffer.subarray(end)
    }
    pending = buffer.length === 0 ? [] : [buffer]
    pendingLength = buffer.length
  }
}
