// Opens a sandbox: for each call it plans a cell, builds it, runs the program in it and reports the result.
import { tmpdir } from 'node:os'

import { CordonError, fail } from '../errors/index.js'
import type { LinuxBackend } from '../policy/index.js'
import { parseAbsolutePath } from '../policy/index.js'
import { PLATFORM } from '../platform/index.js'

import { openBackends } from './backends.js'
import type { Backend } from './backends.js'
import { IN_MEMORY, attachedStdio, commandOf, requestOf, runAttached, runIn } from './launch/run-in-cell.js'
import type { Streams } from './launch/run-in-cell.js'
import {
  waitForBegin,
  createEnder,
  disturbanceIn,
  seenDisturbance,
  untilUndisturbed,
  watchRun,
} from './launch/watched-run.js'
import type { BegunRequest, Disturbance, Ender, WatchedRun } from './launch/watched-run.js'
import type { CallResult } from './call-result.js'
import type { Cell, CellConnection, StartedLauncher } from './launch/cell.js'
import { createDoors } from './launch/doors.js'
import { probeHost } from './host/probe-host.js'
import type { HostFacts } from './plan/host-facts.js'
import { connectWalled, spawnWalled } from './launch/walled.js'
import { TO_CELL, encodeFrame } from './frames.js'
import { runsAsOwner } from './runs-as-owner.js'
import { findLauncher } from './host/launcher.js'
import { spawnLauncher, startNursery } from './launch/nursery.js'
import { chooseForm, availableMechanisms, refuseMissingMechanisms } from './plan/requirements.js'
import { headStartOf } from './plan/plan-cell.js'
import type { CellRequest, PlannedCell } from './plan/planned-cell.js'
import { ALL_FRAMES } from './plan/plan.js'
import type { Stdio } from './plan/plan.js'
import { createPlanner } from './plan/planner.js'
import { createOpenCalls } from './launch/open-calls.js'
import { createPool, groundOf, isStillTrue, keepLatest, openPlanned, startEarly } from './launch/pool.js'
import type { OpenedCell, ReadyCell, EarlyProgram } from './launch/pool.js'
import type {
  AttachedRequest,
  CellSettings,
  RunInput,
  RunRequest,
  Sandbox,
  SandboxOptions,
} from './sandbox-interface.js'
import { createPatrols } from './watch/patrols.js'
import type { CallPatrol } from './watch/patrols.js'
import { programNamedIn } from './grants/program.js'
import type { Identity } from './plan/workspace-owner.js'
import { tryWall } from './host/try-wall.js'
import type { WalledCell } from './walls/wall.js'

/** Pools that keep a cell while nobody calls. An empty one takes about 100 KiB, a Node process some 20 MiB. */
const MOST_KEPT_CELLS = 64
const MOST_KEPT_PROGRAMS = 4

const OPEN: Streams = { ...IN_MEMORY, delivery: 'prompt' }

export const openSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  refuseUnavailable(options)
  const { backend = 'auto' } = options
  if (backend === 'seatbelt') return (await import('./seatbelt/open-seatbelt.js')).openSeatbelt()
  const openAs = (identity: Identity | undefined) => openSandboxAs(identity, backend, options)
  const own = await openAs(undefined)
  return own.host.isRoot ? { ...own, ...runsAsOwner(own, openAs) } : own
}

const refuseUnavailable = ({ backend = 'auto' }: SandboxOptions): void => {
  const needed = backend === 'seatbelt' ? 'darwin' : 'linux'
  if (PLATFORM.name !== needed) throw fail('platform-unsupported', { platform: PLATFORM.label, backend })
}

/** Throws if there is no launcher, which every cell needs. A sandbox finds that out when it is opened. */
export const requireLauncher = ({ backend, launcher }: SandboxOptions = {}): void => {
  if (PLATFORM.name === 'linux' && backend !== 'seatbelt' && launcher === undefined) findLauncher()
}

const openSandboxAs = async (
  identity: Identity | undefined,
  backend: LinuxBackend | 'auto',
  options: SandboxOptions,
): Promise<Sandbox> => {
  const launcher = options.launcher ?? findLauncher()
  const surroundings = {
    identity,
    isRoot: (identity?.uid ?? process.getuid?.()) === 0,
    temporaryFolder: parseAbsolutePath(tmpdir(), 'the temporary folder'),
  }
  // Inside a cell that shares the host's socket names a nursery may not listen. Then each launcher is spawned.
  const doors = createDoors()
  const patrols = createPatrols(launcher)
  const nurseryOrNone =
    options.nursery === 'none' ? undefined : startNursery(launcher, doors.receive, identity).catch(() => undefined)
  const [nursery, host] = await Promise.all([nurseryOrNone, probeHost(launcher, surroundings)])
  // Inside another cell its keeper makes our connections, and the nursery would not recognise us.
  const nursed = (stdio: Stdio): StartedLauncher | undefined =>
    stdio === ALL_FRAMES && host.listener.held && nursery?.isAlive() === true ? nursery.connect() : undefined
  const connect = ({ stdio, proxy }: CellRequest) =>
    nursed(stdio) ?? spawnLauncher(launcher, stdio, proxy === undefined ? undefined : doors.receive, identity)
  const launchAhead = (request: CellRequest): CellConnection | undefined => {
    const network = headStartOf(request, host)
    if (network === undefined) return undefined
    const { connection } = connect(request)
    // If it breaks before it is used, another one is opened.
    connection.on('error', () => undefined)
    connection.write(headStartFrame(network, 'framed'))
    return connection
  }
  const backends = await openBackends(backend, options.form ?? 'auto', host, {
    native: (passedOver) => ({ ...plannedOn({ ...host, passedOver }), launch: connect, launchAhead }),
    tryWall: (name) => tryWall(name, launcher, surroundings),
    walled: ({ wall, host: inside }, passedOver) => ({
      ...plannedOn({ ...inside, passedOver }),
      launch: ({ stdio }, planned) => {
        const [cell, begun] = [walledCell(planned), nursed(stdio)]
        return begun === undefined
          ? spawnWalled(wall, cell, stdio, doors.receive, identity)
          : connectWalled(wall, cell, begun.connection)
      },
    }),
  }).catch((error: unknown) => {
    nursery?.close()
    throw error
  })
  const [keptCells, keptPrograms] = [keepLatest(MOST_KEPT_CELLS), keepLatest(MOST_KEPT_PROGRAMS)]
  const { refuseClosed, tracked, untilClosed, ...calls } = createOpenCalls()

  const backendFor = (settings: CellSettings): Promise<Backend> => {
    refuseClosed()
    return backends.pick(settings.boundary, settings.form ?? options.form ?? 'auto')
  }
  const requestOn = (
    settings: CellSettings,
    { host: chosen }: Backend,
    program: string,
    streams: Streams = IN_MEMORY,
  ): CellRequest => {
    refuseClosed()
    const form = chooseForm(settings.form ?? options.form ?? 'auto', chosen)
    refuseMissingMechanisms(settings.boundary, form, chosen)
    return requestOf(settings, program, form, streams, streams === IN_MEMORY ? 'kept' : 'passed-on')
  }
  /** A promise, because a failure has to wait for the other things that have begun. */
  const beginRequest = async ({ settings, argv, streams, launch }: Job, hasNoCell: boolean): Promise<BegunRequest> => {
    const backend = await backendFor(settings)
    const request = requestOn(settings, backend, programNamedIn(argv), streams)
    const ahead = hasNoCell && streams === IN_MEMORY ? backend.launchAhead?.(request) : undefined
    return { backend, request, connection: (await launch?.()) ?? ahead }
  }
  const patrolFor = async (settings: CellSettings, onAppearance: () => void): Promise<CallPatrol> => {
    refuseClosed()
    return patrols.begin(settings, onAppearance)
  }
  /** The cell could not be built. If a change in a write root was the reason, another one is built. */
  const failedAttempt = async (
    error: unknown,
    patrol: CallPatrol,
    ender: Ender,
    { request, backend: { planner } }: BegunRequest,
  ): Promise<Disturbance> => {
    if (!(error instanceof CordonError && error.code === 'setup-failed')) {
      await patrol.end()
      throw error
    }
    // The program did not start, so it made nothing in the write roots.
    await patrol.giveUp()
    refuseClosed()
    planner.forget()
    const disturbance = disturbanceIn(error, ender)
    // Something that the plan was made of has changed. A new plan reports it, or serves the next call.
    if (!ender.isWanted()) planner.plan(request, patrol.sealed)
    if (disturbance === undefined) throw error
    return disturbance
  }
  const perform = (job: Job, waiting: Promise<ReadyCell | undefined> = NO_CELL): Promise<CallResult> =>
    tracked(untilUndisturbed((isFirst) => attempt(job, isFirst ? waiting : NO_CELL)))
  const attempt = async (job: Job, waiting: Promise<ReadyCell | undefined>): Promise<CallResult | Disturbance> => {
    const ender = createEnder()
    const asked = patrolFor(job.settings, ender.end)
    const beginning = beginRequest(job, waiting === NO_CELL)
    const [patrol, ready, begun] = await waitForBegin(asked, waiting, beginning)
    const { request, connection, backend } = begun
    const { planner } = backend
    try {
      refuseClosed()
      const usable =
        ready !== undefined &&
        isStillTrue(ready, request.program, patrol.sealed) &&
        planner.agrees(ready.planned, request, patrol.sealed)
      if (!usable) ready?.cell.discard()
      const planned = usable ? ready.planned : planner.plan(request, patrol.sealed)
      await patrol.hold(planned.carved)
      // Nobody waits from here until the cell is among the running ones, which closing kills.
      refuseClosed()
      if (ender.isWanted()) throw seenDisturbance()
      const ahead = connection?.destroyed === false ? { connection, wall: undefined } : undefined
      // Its streams would be those of this process.
      if (ahead === undefined && job.launch !== undefined)
        throw fail('launcher-died', { how: 'it ended before its plan' })
      const opened = usable ? ready : openPlanned(planned, ahead ?? backend.launch(request, planned), doors)
      const cell = ender.of(opened.cell)
      cell.take()
      const started = usable ? ready.started : startedIn(cell, planned, job.settings)
      const watched = watchRun(patrol, planner, request, planned)
      return await untilClosed(cell, job.run(opened, planned, watched, started))
    } catch (error) {
      connection?.destroy()
      ready?.cell.discard()
      return failedAttempt(error, patrol, ender, begun)
    }
  }

  const prepare = async (settings: CellSettings, program: string): Promise<ReadyCell> => {
    const patrol = await patrolFor(settings, () => undefined)
    // The watch begins when the cell is used: until then the user may change the roots.
    await patrol.giveUp()
    const backend = await backendFor(settings)
    const request = requestOn(settings, backend, program)
    const planned = backend.planner.plan(request, patrol.sealed)
    const ground = groundOf(planned.ground)
    const { cell, door } = openPlanned(planned, backend.launch(request, planned), doors)
    cell.rest()
    return { cell, door, program, planned, sealed: patrol.sealed, ground, started: startedIn(cell, planned, settings) }
  }

  return {
    host,
    strongest: backends.strongest.host,
    mechanisms: () =>
      availableMechanisms(chooseForm(options.form ?? 'auto', backends.strongest.host), backends.strongest.host),
    run: (request) => perform(jobOf(request, request, request.onStarted)),
    attach: (request) =>
      perform({
        settings: request,
        argv: request.argv,
        streams: { stdio: attachedStdio(request), foreground: request.foreground, delivery: 'gathered' },
        launch: request.launch,
        run: (opened, planned, watched) => runAttached(opened, planned, request, watched),
      }),
    startsElsewhere: async (settings) => (await backendFor(settings)).host.wall === undefined,
    headStart: async (settings) => {
      const { host: chosen } = await backendFor(settings)
      const stdio = attachedStdio(settings)
      const form = chooseForm(options.form ?? 'auto', chosen)
      const network = headStartOf({ ...settings, form }, chosen)
      return network === undefined || Object.values(stdio).some((stream) => stream !== 'direct')
        ? undefined
        : headStartFrame(network, 'direct')
    },
    receive: doors.receive,
    warm: (settings) =>
      calls.pool((onClose) =>
        createPool(
          () => prepare(settings, settings.program),
          (input, waiting) => perform(jobOf(settings, input), waiting),
          settings.early === undefined ? keptCells : keptPrograms,
          onClose,
        ),
      ),
    close: async () => {
      await calls.close()
      patrols.close()
      nursery?.close()
    },
  }
}

const plannedOn = (host: HostFacts): Pick<Backend, 'host' | 'planner'> => ({ host, planner: createPlanner(host) })

const walledCell = ({ plan, wallSteps }: PlannedCell): WalledCell => ({
  steps: wallSteps,
  temporary: plan.temporary,
  network: plan.network === 'all' ? 'shared' : 'own',
  scratch: plan.limits.scratch ?? 0,
})

const NO_CELL = Promise.resolve(undefined)

const headStartFrame = (network: 'none' | 'all', streams: 'framed' | 'direct'): Buffer =>
  encodeFrame(TO_CELL.headStart, Buffer.from(streams === 'direct' ? `${network} direct` : network))

/** One call: what its cell is built for, and how it is run there. */
interface Job {
  readonly settings: CellSettings
  readonly argv: readonly string[]
  readonly streams: Streams
  /** Undefined: by this process. */
  readonly launch: AttachedRequest['launch']
  readonly run: (
    opened: OpenedCell,
    planned: PlannedCell,
    watched: WatchedRun,
    started: EarlyProgram | undefined,
  ) => Promise<CallResult>
}

const jobOf = (settings: CellSettings, input: RunInput, onStarted?: RunRequest['onStarted']): Job => ({
  settings,
  argv: input.argv,
  streams: onStarted === undefined ? IN_MEMORY : OPEN,
  launch: undefined,
  run: (opened, planned, watched, started) => runIn(opened, planned, { settings, input, onStarted }, watched, started),
})

const startedIn = (cell: Cell, planned: PlannedCell, settings: CellSettings): EarlyProgram | undefined =>
  settings.early === undefined
    ? undefined
    : startEarly(cell, commandOf(planned, settings, settings.early.argv), settings.early.stdin)
