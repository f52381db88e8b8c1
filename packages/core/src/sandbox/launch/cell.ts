// One cell on its connection: sends the plan, the command and input, reads events and output.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { fail, messageOf } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { isRunning } from '../../platform/index.js'

import { encodeCommand } from '../plan/encode-plan.js'
import { parseCellEvent } from '../result/events.js'
import type { AppliedEvent, CellEvent, ExitEvent, OpenEvent, ReportedViolation } from '../result/events.js'
import { FROM_CELL, TO_CELL, createFrameReader, encodeFrame, encodeInput } from '../frames.js'
import type { FrameToCell } from '../frames.js'
import type { Command } from '../plan/plan.js'
import { setupFailure } from '../result/setup-failure.js'

export interface CellEnd {
  readonly exit: ExitEvent
  readonly violations: readonly ReportedViolation[]
  readonly opens: readonly OpenEvent[]
  readonly landlock: number
  /** Whether the supervisor sees the tool's processes and can add up what they use. Only probes find out. */
  readonly measurable: boolean
}

/** A launcher that was started, and the wall around it. */
export interface StartedLauncher {
  readonly connection: CellConnection
  readonly wall: RunningWall | undefined
}

interface RunningWall {
  readonly name: string
  readonly started: (pid: number) => void
  readonly isRunning: () => boolean
  /** Waits for its end, and settles with its last words. */
  readonly lastWords: () => Promise<string>
  readonly departure: () => string | undefined
}

export interface CellStreams {
  readonly onStdout: (bytes: Buffer) => void
  readonly onStderr: (bytes: Buffer) => void
  /** The tool closed its stdout. Only told of a program whose output is passed on at once. */
  readonly onStdoutEnd?: () => void
  /** The tool stopped (^Z), or waits for the terminal (SIGTTIN, SIGTTOU). */
  readonly onStopped?: (signal: number) => void
}

export interface Cell {
  /** Settles when the boundary is applied and the cell waits for its command. */
  readonly ready: Promise<AppliedEvent>
  readonly start: (command: Command, stdin: Uint8Array | undefined, streams: CellStreams) => Promise<CellEnd>
  /** Begins the call of a program that was started early. */
  readonly begin: () => void
  readonly write: (stdin: Uint8Array) => void
  /** The number of bytes that the launcher has not taken yet. */
  readonly waiting: () => number
  /** Settles when the launcher has taken what was written, or is gone. */
  readonly taken: () => Promise<void>
  readonly endInput: () => void
  readonly resize: () => void
  /** Until it stops or ends. */
  readonly takeTerminal: () => void
  /** To the tool's process group, as from a terminal. */
  readonly signal: (number: number) => void
  /** Reads no more from the cell until this settles. The tool then waits in its own write. */
  readonly hold: (until: Promise<void>) => void
  /** Kills the cell. `start` then settles with its exit. */
  readonly kill: () => void
  /** Closes a cell that was never started. */
  readonly discard: () => void
  readonly isAlive: () => boolean
  /** Once it is ready it does not keep this process alive, until it is taken. */
  readonly rest: () => void
  readonly take: () => void
}

/** A socket, or a stream of its own over the one to a container. */
export type CellConnection = Duplex & Pick<Socket, 'ref' | 'unref'>

/** A tool that keeps trying must not fill our memory. */
const MOST_KEPT = 10_000

const CLOSING_MS = 1

/** `plan`: made by `encodePlan`. `departure`: how the applied boundary differs. The program then never starts. */
export const openCell = (
  { connection, wall }: StartedLauncher,
  plan: Buffer,
  departure: (applied: AppliedEvent) => string | undefined = () => undefined,
): Cell => {
  const violations: ReportedViolation[] = []
  const opens: OpenEvent[] = []
  let landlock = 0
  let supervisor: number | undefined
  let measurable = true
  let failure: CordonError | undefined
  let exit: ExitEvent | undefined
  let ended = false
  let isKilled = false
  let held = 0
  // No command reaches a wall before its mounts were compared with the plan.
  let isUnchecked = wall !== undefined
  const unsent: Buffer[] = []
  let lastWords = 'its connection closed'
  let isTaken = false
  let streams: CellStreams | undefined
  const ready = deferred<AppliedEvent>()
  const end = deferred<CellEnd>()
  // A cell may fail while nobody waits for it.
  ready.promise.catch(() => undefined)
  end.promise.catch(() => undefined)

  const onEvent = (event: CellEvent) => {
    switch (event.event) {
      case 'applied':
        landlock = event.landlock
        supervisor = event.supervisor
        measurable = event.measurable
        takeBoundary(event)
        break
      case 'violation':
        if (violations.length < MOST_KEPT) violations.push(event.violation)
        break
      case 'open':
        if (opens.length < MOST_KEPT) opens.push(event)
        break
      case 'stopped':
        streams?.onStopped?.(event.signal)
        break
      case 'wall':
        wall?.started(event.pid)
        break
      case 'error':
        if (event.stage === 'wall') failOfWall(event.detail.trim())
        else failure ??= setupFailure(event)
        break
      case 'exit':
        exit = event
        finish()
        break
    }
  }
  const takeBoundary = (event: AppliedEvent) => {
    const problem = departure(event)
    const changed = problem === undefined ? wall?.departure() : undefined
    if (problem === undefined && changed === undefined) {
      isUnchecked = false
      if (unsent.length > 0) sendNow(...unsent.splice(0))
      ready.resolve(event)
      return
    }
    // A wall follows links: another program has put one where the plan knew a folder.
    failure ??= problem === undefined ? failureOfWall('root', changed ?? '') : fail('profile-mismatch', { problem })
    // The supervisor ends the cell when its connection closes.
    connection.destroy()
    finish()
  }
  const failOfWall = (said: string) => {
    lastWords = said
    // Nothing was applied yet, so the wall itself failed.
    if (supervisor === undefined && wall !== undefined && !isKilled) failure ??= failureOfWall(wall.name, said)
    finish()
  }
  const finish = () => {
    if (ended) return
    ended = true
    if (exit === undefined) failure ??= isKilled ? fail('cancelled', {}) : fail('launcher-died', { how: lastWords })
    if (failure === undefined && exit !== undefined) end.resolve({ exit, violations, opens, landlock, measurable })
    else end.reject(failure)
    ready.reject(failure)
    // Closing takes longer than returning the result.
    setTimeout(() => connection.destroy(), CLOSING_MS)
  }

  const read = createFrameReader(
    FROM_CELL,
    (kind, payload) => {
      switch (kind) {
        case FROM_CELL.event:
          onEvent(parseCellEvent(payload))
          break
        case FROM_CELL.stdout:
          if (payload.length === 0) streams?.onStdoutEnd?.()
          else streams?.onStdout(payload)
          break
        case FROM_CELL.stderr:
          streams?.onStderr(payload)
          break
      }
    },
    [FROM_CELL.stdout, FROM_CELL.stderr],
  )
  connection.on('data', (bytes: Buffer) => {
    try {
      read(bytes)
    } catch (error) {
      // An unknown event, or a sink that threw: this call fails, not the process.
      failure ??= fail('launcher-died', { how: messageOf(error) }, error)
      finish()
    }
  })
  connection.on('error', (error) => {
    // A wall that ends early says more than its broken connection.
    if (wall === undefined) failure ??= fail('launcher-died', { how: error.message }, error)
  })
  connection.on('close', () => {
    if (wall === undefined || ended) finish()
    else void wall.lastWords().then(failOfWall)
  })
  connection.write(encodeFrame(TO_CELL.plan, plan))

  const send = (...frames: readonly Buffer[]) => {
    if (isUnchecked) unsent.push(...frames)
    else sendNow(...frames)
  }
  const sendNow = (...frames: readonly Buffer[]) => {
    // Small frames are sent in one write, to save system calls. Large ones are not copied again.
    const batches = frames.length <= 3 ? [Buffer.concat(frames)] : frames
    for (const batch of batches) if (!ended) connection.write(batch)
  }
  const sending = (kind: FrameToCell) => () => {
    send(encodeFrame(kind))
  }
  return {
    ready: ready.promise,
    start: (command, stdin, sinks) => {
      streams = sinks
      const frames = [encodeFrame(TO_CELL.command, encodeCommand(command))]
      if (stdin !== undefined) frames.push(...encodeInput(stdin), encodeFrame(TO_CELL.input))
      send(...frames)
      return end.promise
    },
    begin: sending(TO_CELL.begin),
    write: (stdin) => {
      send(...encodeInput(stdin))
    },
    waiting: () => connection.writableLength,
    taken: () => untilTaken(connection),
    endInput: sending(TO_CELL.input),
    resize: sending(TO_CELL.window),
    takeTerminal: sending(TO_CELL.takeTerminal),
    signal: (number) => {
      send(encodeFrame(TO_CELL.signal, Uint8Array.of(number)))
    },
    hold: (until) => {
      held += 1
      connection.pause()
      void until.finally(() => {
        held -= 1
        if (held === 0) connection.resume()
      })
    },
    kill: () => {
      isKilled = true
      sendNow(encodeFrame(TO_CELL.kill))
    },
    discard: () => {
      if (!ended) connection.destroy()
    },
    rest: () => {
      void ready.promise.then(
        () => {
          if (!isTaken) connection.unref()
        },
        () => undefined,
      )
    },
    take: () => {
      isTaken = true
      connection.ref()
    },
    // A killed supervisor takes the cell with it, but the connection closes only when its last process is gone.
    // Inside a wall it has another number.
    isAlive: () => !ended && (wall?.isRunning() ?? (supervisor === undefined || isRunning(supervisor))),
  }
}

const failureOfWall = (stage: string, detail: string): CordonError =>
  setupFailure({ event: 'error', stage, errno: 0, error: 'it was not built as planned', detail })

const untilTaken = (connection: CellConnection): Promise<void> =>
  connection.writableNeedDrain
    ? new Promise((resolve) => {
        const settle = (): void => {
          connection.off('drain', settle).off('close', settle)
          resolve()
        }
        connection.on('drain', settle).on('close', settle)
      })
    : Promise.resolve()

// A promise that somebody else settles.

interface Deferred<Value> {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
  readonly reject: (reason: unknown) => void
}

export const deferred = <Value>(): Deferred<Value> => {
  let resolve: (value: Value) => void = () => undefined
  let reject: (reason: unknown) => void = () => undefined
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
