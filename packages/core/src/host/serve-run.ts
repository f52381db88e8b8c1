// A command for a front: decided by its files, folder, environment and identity, and recorded, as in a process of its
// own. Nothing that this host knows decides.
import { CordonError } from '../errors/index.js'
import type { Boundary } from '../policy/index.js'
import type { CellConnection, Sandbox } from '../sandbox/index.js'

import { parseArguments } from '../line/arguments.js'
import type { CommandLine } from '../line/caller.js'
import { exitStatusOf, failureLines } from '../line/failure.js'
import { STDERR, paintOn } from '../line/text/console-text.js'
import type { OpenRunLog } from '../run/record.js'
import { reportRun } from '../run/report-run.js'
import { RUN_HELP } from '../run/request/run-options.js'
import { NotServed } from '../run/run-seat.js'
import type { RunSeat } from '../run/run-seat.js'
import { runTyped } from '../run/typed-run.js'
import type { Front } from './front.js'
import { reasonInPaths, reasonInRun, reasonInVariables, reasonInWords } from './own-process.js'
import type { RememberedRuns } from './remembered-runs.js'
import { serveHook } from './serve-hook.js'

export interface Served {
  readonly front: Front
  /** Of the front's process. */
  readonly pid: number
  readonly sandbox: Sandbox
  readonly openLog: OpenRunLog
  readonly prepare: RememberedRuns
  /** The connection to the launcher that the front has started last. */
  readonly cell: () => Promise<CellConnection>
}

/** Settles when the front was told how it ended. Returns why it goes another way, if it does. */
export const serveFront = async (served: Served): Promise<string | undefined> => {
  const { front, openLog, prepare } = served
  const { environment, terminals } = front.request.caller
  try {
    refuseFor(reasonInVariables(environment))
    if (front.request.words[0] === 'hook') {
      await serveHook(front, {
        openLog,
        prepare: prepare.prepareHooked,
        refuse: (paths) => {
          refuseFor(reasonInPaths(paths))
        },
      })
      return undefined
    }
    const line = commandLineOf(front)
    const report = reportRun(line, front.write)
    const ran = await runTyped(line, seatOf(served), report.say)
    await report.end(ran)
    front.exit(ran.exitStatus)
    return undefined
  } catch (error) {
    if (error instanceof NotServed) {
      front.refuse()
      return error.message
    }
    front.write(STDERR, failureLines(error, paintOn(terminals.err, environment)))
    front.exit(exitStatusOf(error))
    return undefined
  }
}

const refuseFor = (reason: string | undefined): void => {
  if (reason !== undefined) throw new NotServed(reason)
}

const commandLineOf = ({ request: { words, caller } }: Front): CommandLine => {
  const given = parseArguments(words.slice(1), RUN_HELP, 'cordon run')
  if (words[0] !== 'run') throw new NotServed('it is no command for a host')
  refuseFor(reasonInWords(given, caller.folder()))
  return { ...caller, given }
}

const seatOf = ({ front, pid, sandbox, openLog, prepare, cell }: Served): RunSeat => {
  const launchers = launchersOf(front, cell)
  return {
    isInteractive: () => front.request.isInteractive,
    prepare: prepare.prepareTyped,
    accept: async (prepared) => {
      const { boundary } = prepared.tool
      const { terminals } = front.request.caller
      const { cwd } = prepared.order
      try {
        refuseFor(await reasonInRun(prepared, sandbox, pid))
        launchers.begin(boundary, await sandbox.headStart({ boundary, cwd, terminals }))
      } catch (error) {
        // This host may lack what a process of the caller has.
        throw error instanceof CordonError ? new NotServed(error.message) : error
      }
    },
    openPlace: () =>
      Promise.resolve({
        streams: 'own',
        isNested: false,
        close: () => Promise.resolve(),
        attach: async (request) => {
          let kill: () => void = () => undefined
          void front.gone.then(() => {
            kill()
          })
          return sandbox.attach({
            ...request,
            launch: () => launchers.next(request.boundary),
            beforeStart: async (applied) => {
              await request.beforeStart?.(applied)
              await front.begin()
            },
            onStart: (control) => {
              kill = control.kill
              request.onStart(control)
            },
          })
        },
      }),
    openLog,
    job: front.job,
    exit: front.exit,
  }
}

interface Launchers {
  /** Has the first one begin what every cell like it begins with, while the run is decided. */
  readonly begin: (boundary: Boundary, headStart: Buffer | undefined) => void
  readonly next: (boundary: Boundary) => Promise<CellConnection>
}

/** The front has started one before anything was known of the run. */
const launchersOf = (front: Front, cell: Served['cell']): Launchers => {
  let first: Promise<CellConnection> | undefined
  const arrived = async (): Promise<CellConnection> => {
    const connection = await cell()
    connection.on('error', () => undefined)
    void front.gone.then(() => connection.destroy())
    return connection
  }
  const another = (boundary: Boundary): Promise<CellConnection> => {
    front.launch(boundary.network.kind === 'hosts' ? 'channel' : 'plain')
    return arrived()
  }
  const begin = async (boundary: Boundary, headStart: Buffer | undefined): Promise<CellConnection> => {
    const plain = await arrived()
    if (boundary.network.kind === 'hosts') plain.destroy()
    const connection = boundary.network.kind === 'hosts' ? await another(boundary) : plain
    if (headStart !== undefined) connection.write(headStart)
    return connection
  }
  return {
    begin: (boundary, headStart) => {
      first = begin(boundary, headStart)
      first.catch(() => undefined)
    },
    next: (boundary) => {
      const begun = first ?? another(boundary)
      first = undefined
      return begun
    },
  }
}
