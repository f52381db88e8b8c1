// Runs a command on the terminal or the pipes of this process.
import { constants } from 'node:os'
import { isatty } from 'node:tty'

import type { AbsolutePath, Boundary } from '../policy/index.js'
import type { BeforeStart } from '../runtime/call/index.js'
import type {
  AttachedControl,
  AttachedInput,
  CallNetwork,
  CallResult,
  CellSettings,
  Observing,
} from '../sandbox/index.js'
import { withoutUndefined } from '../shapes/index.js'

import type { Environment } from '../line/arguments.js'
import { NO_TERMINALS, hasTerminal } from '../line/caller.js'
import type { Caller } from '../line/caller.js'
import { STDERR, STDOUT } from '../line/text/console-text.js'
import { controlJob } from './terminal/job-control.js'
import { openOutput } from './output-sink.js'
import type { OutputSink } from './output-sink.js'
import type { RunPlace } from './run-place.js'
import type { RunSeat } from './run-seat.js'

interface Attached {
  readonly argv: readonly string[]
  readonly cwd: AbsolutePath
  readonly boundary: Boundary
  readonly observe: Observing
  readonly beforeStart: BeforeStart
  readonly proxy?: CellSettings['proxy']
  readonly network?: CallNetwork
}

const { SIGPIPE } = constants.signals

export const runAttached = async (
  { proxy, network, ...attached }: Attached,
  place: RunPlace,
  { job: ofCaller, exit }: RunSeat,
  { terminals: ofTerminal, isPiped }: Caller,
  passed: Environment,
): Promise<CallResult> => {
  const hasOwnStreams = place.streams === 'own'
  const terminals = hasOwnStreams ? ofTerminal : NO_TERMINALS
  // In a pipeline another program may need the keys (… | less), so the command has to ask for them.
  const foreground = terminals.in && !isPiped && ofCaller.isInForeground()
  // As the kernel does when a command writes to a closed pipe.
  const onGone = () => control?.signal(SIGPIPE)
  const sinks = new Map<'out' | 'err', OutputSink>()
  const sinkOf = (stream: 'out' | 'err'): OutputSink => {
    const sink = sinks.get(stream) ?? openOutput(stream === 'out' ? STDOUT : STDERR, onGone)
    sinks.set(stream, sink)
    return sink
  }
  let isEnding = false
  let letGo: () => void = () => undefined
  const ending = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let endedEarly: number | undefined
  const job = controlJob({
    job: ofCaller,
    terminal: hasTerminal({ terminals }),
    foreground,
    onEnding: () => {
      isEnding = true
      letGo()
    },
    // A launcher ends with this process. A container that was not started yet has to be removed.
    onEarlyEnd: (status) => {
      if (hasOwnStreams || endedEarly !== undefined) exit(status)
      endedEarly = status
      void place.close()
    },
  })
  let control: AttachedControl | undefined
  let endInput = (): void => undefined
  const { PATH: searchPath } = passed
  try {
    return await place.attach({
      ...attached,
      ...withoutUndefined({ proxy, network, searchPath }),
      hostEnvironment: withoutUndefined(passed),
      terminals,
      foreground,
      onStart: (started) => {
        control = started
        job.onStart(started)
        if (!hasOwnStreams) endInput = passInput(started)
      },
      onStopped: job.onStopped,
      onOutput: (stream, bytes) => {
        const taken = sinkOf(stream).write(bytes)
        // Its end arrives after its last output, so an ending command does not wait for the reader.
        return taken === undefined || isEnding ? undefined : Promise.race([taken, ending])
      },
    })
  } catch (error) {
    if (endedEarly === undefined) throw error
    await place.close()
    exit(endedEarly)
    throw error
  } finally {
    job.end()
    endInput()
    await Promise.all(Array.from(sinks.values(), (sink) => sink.end(isEnding)))
  }
}

/**
 * A terminal is not read: it is no terminal for the command, and keys that are typed ahead belong to the next program.
 * Returns how to stop.
 */
const passInput = ({ write, taken, endInput }: AttachedInput): (() => void) => {
  if (isatty(0)) {
    endInput()
    return () => undefined
  }
  const { stdin } = process
  stdin.on('data', (bytes: Buffer) => {
    write(bytes)
    stdin.pause()
    void taken().then(() => stdin.resume())
  })
  // Input that cannot be read ends.
  stdin.once('end', endInput).once('error', endInput)
  return () => {
    stdin.destroy()
  }
}
