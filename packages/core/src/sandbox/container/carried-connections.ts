// The host's side of the attachment to a container: the cell's own connection, and those of its tool
// (native/relay/relay.c).
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

import { fail } from '../../errors/index.js'

import { createFrameCutter } from '../frames.js'
import type { CellConnection } from '../launch/cell.js'
import { deferred } from '../launch/cell.js'
import { fieldsOf, jsonIn } from './engine-request.js'
import { readHello, readSeenMount } from './hello.js'
import type { Hello, SeenMount } from './hello.js'

/** Of each direction of each connection, before the other side has passed something on. */
const WINDOW = 256 * 1024
const CREDIT_STEP = WINDOW / 4
const LARGEST_PIECE = 32 * 1024
const LONGEST_WORDS = 2_000
const MOST_MOUNTS = 10_000

/** The kinds of frames, see docs/protocol.md. */
export const RELAY_FRAMES = {
  mount: 'M',
  hello: 'H',
  open: 'O',
  data: 'D',
  credit: 'W',
  end: 'E',
  close: 'C',
} as const

export interface Attached {
  readonly hello: Promise<Hello>
  readonly cell: CellConnection
  readonly isAlive: () => boolean
}

interface Carried {
  readonly stream: Duplex
  readonly take: (payload: Buffer) => void
  readonly credit: (bytes: number) => void
}

/** `onConnection`: takes a connection of the tool, with the words of its channel. */
export const carryConnections = (
  connection: Socket,
  first: Buffer,
  onConnection: (message: unknown, stream: Duplex) => void,
): Attached => {
  const carriedBy = new Map<number, Carried>()
  const mounts: SeenMount[] = []
  let words = ''
  let isOver = false
  const hello = deferred<Hello>()
  hello.promise.catch(() => undefined)

  const send = (kind: string, number: number, payload: Uint8Array = new Uint8Array()): void => {
    if (isOver) return
    const frame = Buffer.allocUnsafe(HEADER + payload.byteLength)
    frame[0] = kind.charCodeAt(0)
    frame.writeUInt32LE(number, 1)
    frame.writeUInt32LE(payload.byteLength, 5)
    frame.set(payload, HEADER)
    connection.write(frame)
  }
  const carry = (number: number): Duplex => {
    const carried = createCarried(number, send, () => {
      carriedBy.delete(number)
      // The launcher ends with its cell, and the container with the launcher.
      if (number === 0) connection.end()
    })
    carriedBy.set(number, carried)
    return carried.stream
  }
  const own = carry(0)
  const cell: CellConnection = Object.assign(own, {
    ref: () => connection.ref(),
    unref: () => connection.unref(),
  })

  const onFrame = (header: Buffer, payload: Buffer): void => {
    const kind = String.fromCharCode(header[0] ?? 0)
    const number = header.readUInt32LE(1)
    const carried = carriedBy.get(number)
    switch (kind) {
      case RELAY_FRAMES.mount:
        if (mounts.push(readSeenMount(payload)) > MOST_MOUNTS)
          throw fail('launcher-died', { how: 'its container has too many mounts' })
        break
      case RELAY_FRAMES.hello:
        hello.resolve(readHello(payload, mounts))
        break
      case RELAY_FRAMES.open: {
        const stream = carry(number)
        onConnection(messageIn(payload), stream)
        break
      }
      case RELAY_FRAMES.data:
        carried?.take(payload)
        break
      case RELAY_FRAMES.credit:
        carried?.credit(payload.readUInt32LE(0))
        break
      case RELAY_FRAMES.end:
        carried?.stream.push(null)
        break
      case RELAY_FRAMES.close:
        carried?.stream.destroy()
        break
      default:
        throw fail('launcher-died', { how: `a frame of the unknown kind ${JSON.stringify(kind)}` })
    }
  }
  const cutFrames = createFrameCutter(
    { headerBytes: HEADER, lengthIn: (header) => atMost(LARGEST_PIECE, header.readUInt32LE(5)) },
    onFrame,
  )
  // The engine puts a header before each piece: its stream, three zeros, its length.
  const cutPieces = createFrameCutter(
    { headerBytes: 8, lengthIn: (header) => atMost(LARGEST_OF_ENGINE, header.readUInt32BE(4)) },
    (header, payload) => {
      if (header[0] === STDERR) words = `${words}${payload.toString('utf8')}`.slice(-LONGEST_WORDS)
      else cutFrames(payload)
    },
  )
  const over = (): void => {
    if (isOver) return
    isOver = true
    const how = words.trim() || 'its container ended'
    hello.reject(fail('launcher-died', { how }))
    for (const { stream } of carriedBy.values()) {
      if (stream !== own) stream.destroy()
      else if (words === '') own.push(null)
      else own.destroy(fail('launcher-died', { how }))
    }
  }
  const read = (bytes: Buffer): void => {
    try {
      cutPieces(bytes)
    } catch (error) {
      hello.reject(error)
      own.destroy(error instanceof Error ? error : undefined)
      connection.destroy()
    }
  }
  // Until there is a cell, nobody else listens.
  own.on('error', hello.reject)
  // What is read before a paused cell ends is still delivered.
  own.once('end', () => own.destroy())
  connection.on('data', read)
  connection.on('error', over)
  connection.on('close', over)
  connection.on('end', over)
  if (first.length > 0) read(first)
  return { hello: hello.promise, cell, isAlive: () => !isOver && !own.destroyed }
}

const HEADER = 9
const STDERR = 2
const LARGEST_OF_ENGINE = 64 * 1024 * 1024

const atMost = (longest: number, length: number): number => {
  if (length > longest) throw fail('launcher-died', { how: `it announced ${length} bytes at once` })
  return length
}

const createCarried = (
  number: number,
  send: (kind: string, number: number, payload?: Uint8Array) => void,
  onGone: () => void,
): Carried => {
  let maySend = WINDOW
  let unacknowledged = 0
  let waiting: { bytes: Buffer; readonly done: () => void } | undefined

  const flush = (): void => {
    while (waiting !== undefined && maySend > 0) {
      const piece = waiting.bytes.subarray(0, Math.min(maySend, LARGEST_PIECE))
      maySend -= piece.length
      send(RELAY_FRAMES.data, number, piece)
      const { bytes, done } = waiting
      waiting = piece.length === bytes.length ? undefined : { bytes: bytes.subarray(piece.length), done }
      if (waiting === undefined) done()
    }
  }
  const acknowledge = (): void => {
    if (unacknowledged < CREDIT_STEP) return
    const credit = Buffer.allocUnsafe(4)
    credit.writeUInt32LE(unacknowledged, 0)
    unacknowledged = 0
    send(RELAY_FRAMES.credit, number, credit)
  }
  const stream = new Duplex({
    read: acknowledge,
    write: (bytes: Buffer, _encoding, done) => {
      waiting = { bytes, done }
      flush()
    },
    final: (done) => {
      send(RELAY_FRAMES.end, number)
      done()
    },
    destroy: (error, done) => {
      if (!(stream.readableEnded && stream.writableFinished)) send(RELAY_FRAMES.close, number)
      onGone()
      done(error)
    },
  })
  return {
    stream,
    take: (payload) => {
      unacknowledged += payload.length
      if (unacknowledged > WINDOW) throw fail('launcher-died', { how: 'it sent more than it had credit for' })
      if (stream.push(payload)) acknowledge()
    },
    credit: (bytes) => {
      maySend += bytes
      flush()
    },
  }
}

/** A line for Node's channel. The message in it is for the doors of the sandbox. */
const messageIn = (payload: Buffer): unknown => fieldsOf(jsonIn(payload.toString('utf8')))['msg']
