// A command for a front: decided by its files, folder, environment and identity, and recorded, as in a process of its
// own. Nothing that this host knows decides.
import { isAbsolute } from 'node:path'

import { textOfFile } from '../platform/index.js'
import type { Boundary } from '../policy/index.js'
import type { CellConnection, Sandbox } from '../sandbox/index.js'

import { parseArguments } from '../line/arguments.js'
import type { Arguments, Environment } from '../line/arguments.js'
import type { CommandLine } from '../line/caller.js'
import { exitStatusOf, failureLines } from '../line/failure.js'
import { STDERR, paintOn } from '../line/text/console-text.js'
import type { OpenRunLog } from '../run/record.js'
import { reportRun } from '../run/report-run.js'
import { RUN_HELP } from '../run/request/run-options.js'
import type { RunOrder } from '../run/request/run-request.js'
import { openRunGate } from '../run/run-gate.js'
import type { PreparedRun } from '../run/run-gate.js'
import { NotServed } from '../run/run-seat.js'
import type { RunSeat } from '../run/run-seat.js'
import { runTyped } from '../run/typed-run.js'
import type { Front } from './front.js'
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

/** Settles when the front was told how it ended. False if it goes another way. */
export const serveFront = async (served: Served): Promise<boolean> => {
  const { front, openLog, prepare } = served
  const { environment, terminals } = front.request.caller
  try {
    if (!isOwnPlace(environment)) throw new NotServed()
    if (front.request.words[0] === 'hook') {
      await serveHook(front, { openLog, prepare: prepare.prepareHooked })
      return true
    }
    const line = commandLineOf(front)
    const report = reportRun(line, front.write)
    const ran = await runTyped(line, seatOf(served), report.say)
    await report.end(ran)
    front.exit(ran.exitStatus)
    return true
  } catch (error) {
    if (error instanceof NotServed) {
      front.refuse()
      return false
    }
    front.write(STDERR, failureLines(error, paintOn(terminals.err, environment)))
    front.exit(exitStatusOf(error))
    return true
  }
}

const commandLineOf = ({ request: { words, caller } }: Front): CommandLine => {
  const given = parseArguments(words.slice(1), RUN_HELP, 'cordon run')
  if (words[0] !== 'run' || !isServed(given)) throw new NotServed()
  return { ...caller, given }
}

/** Files that this process would have to read or write where it stands, and whatever few people use. */
const OWN_PROCESS = ['help', 'dry-run', 'facts', 'manifest', 'session', 'backend', 'image', 'form']

const isServed = ({ switches, values }: Arguments): boolean =>
  OWN_PROCESS.every((name) => !switches.has(name) && !values.has(name))

/** Variables whose paths would begin in another folder, or that lead elsewhere than those of the host. */
const PATHS = ['CORDON_AUDIT', 'CORDON_KEY_FILE', 'CORDON_TOKEN_FILE', 'CORDON_STORE', 'CORDON_SERVER', 'DOCKER_HOST']
const TEMPORARY = ['TMPDIR', 'TMP', 'TEMP']

const isOwnPlace = (environment: Environment): boolean => {
  const valueOf = (name: string): string => environment[name] ?? ''
  const isClear = (text: string): boolean => text === '' || isAbsolute(text) || /^[a-z]+:\/\//.test(text)
  return (
    valueOf('CORDON_SESSION') === '' &&
    isAbsolute(valueOf('HOME')) &&
    PATHS.every((name) => isClear(valueOf(name).replace(/^unix:(?=\/)/, ''))) &&
    TEMPORARY.every((name) => ['', '/tmp', '/tmp/'].includes(valueOf(name)))
  )
}

const seatOf = ({ front, pid, sandbox, openLog, prepare, cell }: Served): RunSeat => {
  const launchers = launchersOf(front, cell)
  return {
    isInteractive: () => front.request.isInteractive,
    prepare: prepare.prepareTyped,
    accept: async (prepared) => {
      if (await needsOwnProcess(prepared, sandbox, pid)) throw new NotServed()
      const { boundary } = prepared.tool
      const { terminals } = front.request.caller
      const { cwd } = prepared.order
      launchers.begin(boundary, await sandbox.headStart({ boundary, cwd, terminals }))
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
              front.begin()
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

/** Before anything is decided: what this host would do otherwise than a process of the caller's own. */
const needsOwnProcess = async (prepared: PreparedRun, sandbox: Sandbox, pid: number): Promise<boolean> => {
  const { tool, order, isInteractive, environment } = prepared
  const { boundary } = tool
  const { memory, processes } = boundary.limits
  return (
    (boundary.network.kind === 'hosts' && !reachesAlike(order, environment)) ||
    boundary.limits.output !== undefined ||
    // Its cgroup would be made beside that of this host.
    ((memory !== undefined || processes !== undefined) && cgroupOf(pid) !== cgroupOf('self')) ||
    !(await sandbox.startsElsewhere({ boundary, cwd: order.cwd })) ||
    // The question is for its terminal.
    (isInteractive && (await wouldAsk(prepared)))
  )
}

/** What a proxy in this process would trust, look up or know otherwise than one in a process of the caller's own. */
const reachesAlike = ({ secrets }: RunOrder, environment: Environment): boolean =>
  Object.entries(environment).every(([name, text]) => text === '' || !STEERING_PROXY.test(name)) &&
  [...secrets.values()].every(({ kind }) => kind === 'environment' || kind === 'file')

const STEERING_PROXY = /^(?:NODE_|OPENSSL_|RES_OPTIONS$|LOCALDOMAIN$|HOSTALIASES$)/

const cgroupOf = (process: number | 'self'): string | undefined => textOfFile(`/proc/${process}/cgroup`)

const wouldAsk = async (prepared: PreparedRun): Promise<boolean> => {
  const { gate, call } = openRunGate(prepared)
  return (await gate.decide(call)).kind === 'asking'
}
