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
/** Between a front and the local host (native/front/front.c). */
export const FROM_FRONT = { request: 'Q', message: 'M', signal: 'S', continued: 'C', question: '?' } as const
export const TO_FRONT = { notServed: 'N', launch: 'L', begin: 'B', text: 'T', stop: 'Z', exit: 'X' } as const

export type FrameToCell = LetterOf<typeof TO_CELL>
export type FrameToWatcher = LetterOf<typeof TO_WATCHER>
export type FrameToFront = LetterOf<typeof TO_FRONT>
type FrameFromFront = LetterOf<typeof FROM_FRONT>

const HEADER = 5

export const encodeFrame = (
  kind: FrameToCell | FrameToWatcher | FrameToFront | FrameFromFront,
  payload: Uint8Array = new Uint8Array(),
): Buffer => {
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

/** Throws at an unknown kind. `inPieces`: kinds whose payload is a stream itself, and is not waited for. */
export const createFrameReader = <Kind extends string>(
  kinds: Readonly<Record<string, Kind>>,
  onFrame: (kind: Kind, payload: Buffer) => void,
  inPieces: readonly NoInfer<Kind>[] = [],
): ((bytes: Buffer) => void) => {
  const known = Object.values(kinds)
  const kindOf = (header: Buffer): Kind => {
    const letter = String.fromCharCode(header[0] ?? 0)
    return (
      known.find((kind) => kind === letter) ??
      bug(`the launcher sent a frame of the unknown kind ${JSON.stringify(letter)}`)
    )
  }
  return createFrameCutter(
    {
      headerBytes: HEADER,
      lengthIn: (header) => header.readUInt32LE(1),
      isInPieces: (header) => inPieces.includes(kindOf(header)),
    },
    (header, payload) => {
      onFrame(kindOf(header), payload)
    },
  )
}

interface FrameForm {
  readonly headerBytes: number
  /** The length of the payload. May throw. */
  readonly lengthIn: (header: Buffer) => number
  /** Whether pieces of the payload are passed on as they arrive. Otherwise a frame is passed on when it is complete. */
  readonly isInPieces?: (header: Buffer) => boolean
}

/** Cuts a stream of bytes into frames of a header and a payload. */
export const createFrameCutter = (
  { headerBytes, lengthIn, isInPieces = () => false }: FrameForm,
  onFrame: (header: Buffer, payload: Buffer) => void,
): ((bytes: Buffer) => void) => {
  let pending: Buffer[] = []
  let pendingLength = 0
  let wanted = headerBytes
  let begun: { readonly header: Buffer; readonly left: number } | undefined

  /** Returns the bytes of the next frame. */
  const tellPiece = (header: Buffer, length: number, bytes: Buffer): Buffer => {
    const piece = bytes.subarray(0, length)
    begun = piece.length < length ? { header, left: length - piece.length } : undefined
    if (piece.length > 0 || length === 0) onFrame(header, piece)
    return bytes.subarray(piece.length)
  }
  return (arrived) => {
    const bytes = begun === undefined ? arrived : tellPiece(begun.header, begun.left, arrived)
    pending.push(bytes)
    pendingLength += bytes.length
    if (pendingLength < wanted) return
    let buffer = pending.length === 1 ? bytes : Buffer.concat(pending, pendingLength)
    wanted = headerBytes
    while (buffer.length >= headerBytes) {
      const header = buffer.subarray(0, headerBytes)
      const end = headerBytes + lengthIn(header)
      if (isInPieces(header)) {
        buffer = tellPiece(header, end - headerBytes, buffer.subarray(headerBytes))
        continue
      }
      if (buffer.length < end) {
        wanted = end
        break
      }
      onFrame(header, buffer.subarray(headerBytes, end))
      buffer = buffer.subarray(end)
    }
    pending = buffer.length === 0 ? [] : [buffer]
    pendingLength = buffer.length
  }
}
