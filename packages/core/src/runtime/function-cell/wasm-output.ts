// Passes on what a WASI module writes to its standard streams at once. So the supervisor counts it as it is written,
// and nothing is lost if the module traps or is killed.
import type { OutputStream } from './messages.js'

export type WriteOutput = (stream: OutputStream, bytes: Uint8Array) => void
export type WasiCalls = Readonly<Record<WasiCall, (...words: number[]) => number>>
type WasiCall = 'fd_write' | 'fd_pwrite' | 'fd_close' | 'fd_renumber'

const SUCCESS = 0
const EFAULT = 21
const ESPIPE = 70
const VECTOR_BYTES = 8

/** `memory`: of the module. Undefined until it is there. */
export const passOnOutput = (
  calls: WasiCalls,
  memory: () => ArrayBuffer | undefined,
  write: WriteOutput,
): Pick<WasiCalls, WasiCall> => {
  const streams = new Map<number, OutputStream>([
    [1, 'stdout'],
    [2, 'stderr'],
  ])
  return {
    fd_write: (descriptor = -1, vectors = 0, count = 0, result = 0) => {
      const stream = streams.get(descriptor)
      if (stream === undefined) return calls.fd_write(descriptor, vectors, count, result)
      const pieces = piecesIn(memory(), vectors >>> 0, count >>> 0, result >>> 0)
      if (pieces === undefined) return EFAULT
      for (const piece of pieces) write(stream, piece)
      return SUCCESS
    },
    // As of a pipe.
    fd_pwrite: (descriptor = -1, ...words) =>
      streams.has(descriptor) ? ESPIPE : calls.fd_pwrite(descriptor, ...words),
    fd_close: (descriptor = -1) => {
      const status = calls.fd_close(descriptor)
      if (status === SUCCESS) streams.delete(descriptor)
      return status
    },
    fd_renumber: (from = -1, to = -1) => {
      const moved = streams.get(from)
      const status = calls.fd_renumber(from, to)
      if (status !== SUCCESS || from === to) return status
      streams.delete(from)
      if (moved === undefined) streams.delete(to)
      else streams.set(to, moved)
      return status
    },
  }
}

/** The bytes of all vectors, whose sum is written to `result`. Undefined if any of these lies outside of the memory. */
const piecesIn = (
  memory: ArrayBuffer | undefined,
  vectors: number,
  count: number,
  result: number,
): readonly Uint8Array[] | undefined => {
  if (memory === undefined || vectors + count * VECTOR_BYTES > memory.byteLength) return undefined
  const view = new DataView(memory)
  const pieces: Uint8Array[] = []
  let sum = 0
  for (let at = vectors; at < vectors + count * VECTOR_BYTES; at += VECTOR_BYTES) {
    const [start, length] = [view.getUint32(at, true), view.getUint32(at + 4, true)]
    if (start + length > memory.byteLength) return undefined
    pieces.push(new Uint8Array(memory, start, length))
    sum += length
  }
  if (result + 4 > memory.byteLength) return undefined
  view.setUint32(result, sum, true)
  return pieces
}
