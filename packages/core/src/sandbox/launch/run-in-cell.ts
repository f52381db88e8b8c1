// One call in an opened cell: hands over its command and input, and reads how it ended.
import { fail } from '../../errors/index.js'
import type { Form } from '../../policy/index.js'
import { parseAbsolutePath } from '../../policy/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import { collect, describeEnd, interrupted } from '../call-result.js'
import type { CallResult } from '../call-result.js'
import { SYSTEM_PATH } from '../grants/program.js'
import { environmentOf } from '../plan/environment.js'
import { withOutputLimit } from '../plan/plan-supervision.js'
import type { CellRequest, PlannedCell } from '../plan/planned-cell.js'
import { ALL_FRAMES } from '../plan/plan.js'
import type { Command, Plan, Stdio, Stream } from '../plan/plan.js'
import { appliedProfile } from '../result/applied-profile.js'
import type { AttachedRequest, CellSettings, RunInput, RunRequest } from '../sandbox-interface.js'
import type { Cell } from './cell.js'
import type { CallNetwork } from './doors.js'
import type { OpenedCell, EarlyProgram } from './pool.js'
import type { WatchedRun } from './watched-run.js'

export type Streams = Pick<Plan, 'stdio' | 'foreground' | 'delivery'>

export const IN_MEMORY: Streams = { stdio: ALL_FRAMES, foreground: false, delivery: 'gathered' }

/** Whether output is kept in memory, where it needs a limit. */
export type Output = 'kept' | 'passed-on'

/** What a cell is planned for. */
export const requestOf = (
  settings: CellSettings,
  program: string,
  form: Form,
  streams: Streams,
  output: Output,
): CellRequest => ({
  boundary: output === 'kept' ? withOutputLimit(settings.boundary) : settings.boundary,
  cwd: parseAbsolutePath(settings.cwd, 'cwd'),
  program,
  searchPath: settings.searchPath ?? SYSTEM_PATH,
  hostEnvironment: settings.hostEnvironment ?? {},
  form,
  ...streams,
  clock: settings.early === undefined ? 'start' : 'begin',
  observe: settings.observe ?? 'changes',
  // Only granted hosts need it.
  proxy: settings.boundary.network.kind === 'hosts' ? settings.proxy : undefined,
})

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
  started: EarlyProgram | undefined,
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
const discardUnheard = (cell: Cell): void => {
  setTimeout(() => {
    if (cell.waiting() > 0) cell.discard()
  }, UNSENT_KILL_MS).unref()
  setTimeout(cell.discard, UNHEARD_KILL_MS).unref()
}

export const bytesOf = (stdin: string | Uint8Array | undefined): Uint8Array =>
  typeof stdin === 'string' ? Buffer.from(stdin) : (stdin ?? new Uint8Array())

export const attachedStdio = ({ terminals, boundary }: Pick<AttachedRequest, 'terminals' | 'boundary'>): Stdio => {
  // Direct output cannot be counted. Output to a terminal passes through the supervisor in any case.
  const output: Stream = boundary.limits.output === undefined ? 'direct' : 'frames'
  return {
    in: terminals.in ? 'terminal' : 'direct',
    out: terminals.out ? 'terminal' : output,
    err: terminals.err ? 'terminal' : output,
  }
}

/**
 * Runs one command on this process's own stdin, stdout and stderr. Its bytes do not pass through this process: the tool
 * has the descriptors themselves, or the supervisor connects its terminal with the caller's.
 */
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
