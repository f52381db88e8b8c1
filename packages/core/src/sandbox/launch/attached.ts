// Runs one command on this process's own stdin, stdout and stderr. Its bytes do not pass through this process: the tool
// has the descriptors themselves, or the supervisor connects its terminal with the caller's.
import { describeEnd } from '../call-result.js'
import type { CallResult } from '../call-result.js'
import type { PlannedCell } from '../plan/planned-cell.js'
import type { Stdio, Stream } from '../plan/plan.js'
import { appliedProfile } from '../result/applied-profile.js'
import type { OpenedCell } from './pool.js'
import { commandOf, discardUnheard } from './run-in-cell.js'
import type { WatchedRun } from './watched-run.js'
import type { AttachedRequest } from '../sandbox-interface.js'

export const attachedStdio = ({ terminals, boundary }: AttachedRequest): Stdio => {
  // Direct output cannot be counted. Output to a terminal passes through the supervisor in any case.
  const output: Stream = boundary.limits.output === undefined ? 'direct' : 'frames'
  return {
    in: terminals.in ? 'terminal' : 'direct',
    out: terminals.out ? 'terminal' : output,
    err: terminals.err ? 'terminal' : output,
  }
}

export const runAttached = async (
  { cell, door }: OpenedCell,
  planned: PlannedCell,
  request: Omit<AttachedRequest, 'terminals'>,
  watched: WatchedRun,
): Promise<CallResult> => {
  try {
    const applied = await cell.ready
    await request.beforeStart?.(appliedProfile(applied, planned))
    door?.open(request.network)
    watched.go()
    const passOn =
      (stream: 'out' | 'err') =>
      (bytes: Buffer): void => {
        const taken = request.onOutput(stream, bytes)
        if (taken !== undefined) cell.hold(taken)
      }
    const running = cell.start(commandOf(planned, request, request.argv, request.network), undefined, {
      onStdout: passOn('out'),
      onStderr: passOn('err'),
      onStopped: request.onStopped,
    })
    if (request.foreground) cell.takeTerminal()
    const kill = (): void => {
      cell.kill()
      if (planned.plan.stdio.in === 'frames') discardUnheard(cell)
    }
    request.onStart({ ...cell, kill })
    const end = await running
    const found = await watched.end()
    return await describeEnd(end, { planned, boundary: request.boundary, found }, new Uint8Array(), new Uint8Array())
  } finally {
    cell.discard()
  }
}
