// One front: what it asked for, the signals of its job, and what it is told to do.
import type { Socket } from 'node:net'
import { constants } from 'node:os'

import { FROM_FRONT, TO_FRONT, createFrameReader, encodeFrame } from '../sandbox/index.js'
import type { FrameToFront } from '../sandbox/index.js'

import type { Job, JobSignals } from '../run/terminal/job.js'
import type { HostState } from './host-state.js'
import { readRequest } from './front-request.js'
import type { FrontRequest } from './front-request.js'

export interface Front {
  readonly request: FrontRequest
  readonly job: Job
  /** What a hook reads. */
  readonly message: Promise<Buffer>
  /** Settles when its process is gone. */
  readonly gone: Promise<void>
  readonly write: (descriptor: number, text: string) => void
  /** Has it start another launcher. `channel`: one that hands connections of its tool to this host. */
  readonly launch: (kind: 'plain' | 'channel') => void
  /** From here on it does not go another way. Settles when it can know that, so that nothing begins before. */
  readonly begin: () => Promise<void>
  readonly exit: (status: number) => void
  /** Tells the front to start Node. */
  readonly refuse: () => void
}

/** Of a request and a message. */
const MOST_BYTES = 16 << 20

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

interface Asked {
  readonly onFront: (front: Front) => Promise<void>
  /** `cordon host` asks for the state, or for the end of this process. */
  readonly onQuestion: (question: string) => HostState
}

/** A connection that asks nothing sensible is closed. */
export const receiveFront = (connection: Socket, { onFront, onQuestion }: Asked): void => {
  const send = (kind: FrameToFront, payload?: Uint8Array): void => {
    if (!connection.destroyed) connection.write(encodeFrame(kind, payload))
  }
  const last = (kind: FrameToFront, payload?: Uint8Array): void => {
    if (!connection.destroyed) connection.end(encodeFrame(kind, payload))
  }
  let heard: JobSignals | undefined
  let isInForeground = true
  let continued: () => void = () => undefined
  const job: Job = {
    listen: (signals) => {
      heard = signals
      return () => {
        heard = undefined
      }
    },
    isInForeground: () => isInForeground,
    stop: (signal) =>
      new Promise((resolve) => {
        continued = resolve
        send(TO_FRONT.stop, Uint8Array.of(constants.signals[signal]))
      }),
  }
  const onSignal = (number: number): void => {
    const name = SIGNAL_NAMES.get(number) as NodeJS.Signals | undefined
    if (name === 'SIGTSTP') heard?.onStop()
    else if (name === 'SIGCONT') heard?.onContinue()
    else if (name === 'SIGWINCH') heard?.onResize()
    else if (name !== undefined) heard?.onSignal(name)
  }
  let giveMessage: (bytes: Buffer) => void = () => undefined
  const message = new Promise<Buffer>((resolve) => {
    giveMessage = resolve
  })
  const gone = new Promise<void>((resolve) => {
    connection.once('close', () => {
      continued()
      resolve()
    })
  })
  const refuse = (): void => {
    last(TO_FRONT.notServed)
  }
  const front: Omit<Front, 'request'> = {
    job,
    message,
    gone,
    write: (descriptor, text) => {
      send(TO_FRONT.text, Buffer.concat([Uint8Array.of(descriptor), Buffer.from(text)]))
    },
    launch: (kind) => {
      send(TO_FRONT.launch, kind === 'channel' ? Uint8Array.of(1) : undefined)
    },
    begin: () =>
      new Promise((resolve) => {
        if (connection.destroyed) resolve()
        else
          connection.write(encodeFrame(TO_FRONT.begin), () => {
            resolve()
          })
      }),
    exit: (status) => {
      last(TO_FRONT.exit, Uint8Array.of(status))
    },
    refuse,
  }
  let received = 0
  let hasAsked = false
  const read = createFrameReader(FROM_FRONT, (kind, payload) => {
    if (kind === FROM_FRONT.request) {
      const request = hasAsked ? undefined : readRequest(payload)
      hasAsked = true
      if (request === undefined) {
        refuse()
        return
      }
      isInForeground = request.isInForeground
      void onFront({ ...front, request })
      return
    }
    if (kind === FROM_FRONT.question) {
      const question = payload.toString()
      front.write(1, JSON.stringify(onQuestion(question)))
      if (question !== 'stop') front.exit(0)
      return
    }
    if (kind === FROM_FRONT.message) {
      giveMessage(Buffer.from(payload))
      return
    }
    isInForeground = payload[1] === 1
    if (kind === FROM_FRONT.continued) continued()
    else onSignal(payload[0] ?? 0)
  })
  connection.on('error', () => undefined)
  connection.on('data', (bytes: Buffer) => {
    received += bytes.length
    try {
      if (received > MOST_BYTES) throw new Error('a request that is too large')
      read(bytes)
    } catch {
      connection.destroy()
    }
  })
}
