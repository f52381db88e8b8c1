// One command on this process's own stdin, stdout and stderr. Bytes do not pass through this
// process: the tool has the very descriptors, or the supervisor joins its terminal to the caller's.
import { bug } from '../../errors/index.js'

import { describeEnd } from '../call-result.js'
import type { CallResult } from '../call-result.js'
import type { Cell } from './cell.js'
import type { CallNetwork, Door } from './doors.js'
import { buildEnvironment } from '../plan/environment.js'
import type { Environment } from '../plan/environment.js'
import { formVariables } from '../plan/form-environment.js'
import { networkVariables } from '../plan/network-environment.js'
import type { PlannedCell } from '../plan/plan-cell.js'
import type { Stdio, Stream } from '../plan/plan.js'
import type { OpenedCell } from './ready-cell.js'
import type { WatchedRun } from './watched-run.js'
import type { CellSettings } from '../sandbox.js'

/** What the caller can do while the command runs. */
export type AttachedControl = Pick<Cell, 'signal' | 'kill' | 'resize' | 'takeTerminal'>

export interface AttachedRequest extends CellSettings {
  readonly argv: readonly string[]
  /** Where hosts are granted. */
  readonly network?: CallNetwork
  /** Which of stdin, stdout and stderr are the caller's terminal. */
  readonly terminals: { readonly in: boolean; readonly out: boolean; readonly err: boolean }
  /** Whether the command has the terminal's keys from the start; otherwise it stops when it wants them. */
  readonly foreground: boolean
  /** Output that had to be counted, because it is limited. What it returns holds back more of it until it settles. */
  readonly onOutput: (stream: 'out' | 'err', bytes: Uint8Array) => Promise<void> | undefined
  /** Asked when the boundary stands and the command is about to begin. When it rejects the command does not. */
  readonly beforeStart?: () => Promise<void>
  /** The boundary is applied and the command begins. */
  readonly onStart: (control: AttachedControl) => void
  /** The command stopped: by ^Z, or because it wants the terminal (SIGTTIN, SIGTTOU). */
  readonly onStopped: (signal: number) => void
}

export const attachedStdio = ({ terminals, boundary }: AttachedRequest): Stdio => {
  // Output that goes past everybody cannot be counted; a terminal's passes through the supervisor anyway.
  const output: Stream = boundary.limits.output === undefined ? 'direct' : 'frames'
  return {
    in: terminals.in ? 'terminal' : 'direct',
    out: terminals.out ? 'terminal' : output,
    err: terminals.err ? 'terminal' : output,
  }
}

export const environmentOf = (
  { plan }: PlannedCell,
  { boundary, hostEnvironment = {} }: CellSettings,
  network: CallNetwork | undefined,
): Environment =>
  buildEnvironment(boundary, hostEnvironment, plan.temporary, {
    ...formVariables(plan),
    ...(network === undefined ? {} : { ...networkVariables(plan, network.proxySecret), ...network.variables }),
  })

/** Before the program begins, so that its first connection finds somebody. */
export const openDoor = (door: Door | undefined, network: CallNetwork | undefined): void => {
  door?.open(network ?? bug('a call with granted hosts, and nobody who takes its connections'))
}

export const runAttached = async (
  { cell, door }: OpenedCell,
  planned: PlannedCell,
  request: AttachedRequest,
  watched: WatchedRun,
): Promise<CallResult> => {
  try {
    await cell.ready
    await request.beforeStart?.()
    openDoor(door, request.network)
    const environment = environmentOf(planned, request, request.network)
    watched.go()
    const passOn =
      (stream: 'out' | 'err') =>
      (bytes: Buffer): void => {
        const taken = request.onOutput(stream, bytes)
        if (taken !== undefined) cell.hold(taken)
      }
    const running = cell.start({ program: planned.program.path, argv: request.argv, environment }, undefined, {
      onStdout: passOn('out'),
      onStderr: passOn('err'),
      onStopped: request.onStopped,
    })
    if (request.foreground) cell.takeTerminal()
    request.onStart(cell)
    const end = await running
    const found = await watched.end()
    return await describeEnd(end, { planned, boundary: request.boundary, found }, new Uint8Array(), new Uint8Array())
  } finally {
    cell.discard()
  }
}
