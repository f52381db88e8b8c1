// One call in an opened cell: hands over its command and input, and reads how it ended.
import { fail } from '../../errors/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import { collect, describeEnd, interrupted } from '../call-result.js'
import type { CallResult } from '../call-result.js'
import { environmentOf } from '../plan/environment.js'
import type { PlannedCell } from '../plan/planned-cell.js'
import type { Command } from '../plan/plan.js'
import { appliedProfile } from '../result/applied-profile.js'
import type { CellSettings, RunInput, RunRequest } from '../sandbox-interface.js'
import type { Cell } from './cell.js'
import type { CallNetwork } from './doors.js'
import type { OpenedCell, StartedProgram } from './pool.js'
import type { WatchedRun } from './watched-run.js'

export const commandOf = (
  planned: PlannedCell,
  settings: CellSettings,
  argv: readonly string[],
  network?: CallNetwork,
): Command => {
  const own = environmentOf(planned.plan, settings, network, planned.imageVariables?.['PATH'])
  return {
    program: planned.program.path,
    argv,
    environment: planned.imageVariables === undefined ? own : { ...planned.imageVariables, ...own },
  }
}

interface CallOfCell {
  readonly settings: CellSettings
  readonly input: RunInput
  readonly onStarted: RunRequest['onStarted']
}

export const runIn = async (
  { cell, door }: OpenedCell,
  planned: PlannedCell,
  { settings, input, onStarted }: CallOfCell,
  watched: WatchedRun,
  started: StartedProgram | undefined,
): Promise<CallResult> => {
  const stdout = collect(input.onStdout)
  const stderr = collect(input.onStderr)
  const { signal } = input
  const isCancelled = () => signal?.aborted === true
  const abort = () => {
    cell.kill()
    if (onStarted !== undefined) discardUnheard(cell)
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    if (input.beforeStart !== undefined) {
      const applied = await cell.ready
      await input.beforeStart(appliedProfile(applied, planned))
    }
    if (isCancelled()) throw fail('cancelled', {}, signal?.reason)
    door?.open(input.network)
    watched.go()
    const stdin = bytesOf(input.stdin)
    const { onStdoutEnd } = input
    const streams = { onStdout: stdout.take, onStderr: stderr.take, ...withoutUndefined({ onStdoutEnd }) }
    const command = () => commandOf(planned, settings, input.argv, input.network)
    const running =
      started?.begin(stdin, streams) ?? cell.start(command(), onStarted === undefined ? stdin : undefined, streams)
    const { write, waiting, endInput, hold } = cell
    onStarted?.({ profile: planned.profile, write, waiting, endInput, hold })
    const end = await running
    const found = await watched.end()
    const result = await describeEnd(
      end,
      { planned, boundary: settings.boundary, found },
      stdout.bytes(),
      stderr.bytes(),
    )
    if (isCancelled()) throw interrupted(fail('cancelled', {}, signal?.reason), result)
    return result
  } finally {
    signal?.removeEventListener('abort', abort)
    cell.discard()
  }
}

const UNSENT_KILL_MS = 200
const UNHEARD_KILL_MS = 5_000

/**
 * A launcher reads nothing more, also no kill, while its program leaves too much input unread. Closing the connection
 * kills the cell too, but leaves no report of it.
 */
export const discardUnheard = (cell: Cell): void => {
  setTimeout(() => {
    if (cell.waiting() > 0) cell.discard()
  }, UNSENT_KILL_MS).unref()
  setTimeout(cell.discard, UNHEARD_KILL_MS).unref()
}

export const bytesOf = (stdin: string | Uint8Array | undefined): Uint8Array =>
  typeof stdin === 'string' ? Buffer.from(stdin) : (stdin ?? new Uint8Array())
