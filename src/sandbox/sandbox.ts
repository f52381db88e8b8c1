import { tmpdir } from 'node:os'
import type { Duplex } from 'node:stream'

import { CordonError, fail } from '../errors/index.js'
import type { Boundary, Mechanism } from '../policy/index.js'
import { parseAbsolutePath } from '../policy/index.js'

import { attachedStdio, environmentOf, openDoor, runAttached } from './launch/attached.js'
import type { AttachedRequest } from './launch/attached.js'
import { allBegun } from './launch/begun-call.js'
import type { BegunRequest } from './launch/begun-call.js'
import { collect, describeEnd } from './call-result.js'
import type { CallResult } from './call-result.js'
import { openCell } from './launch/cell.js'
import type { Cell } from './launch/cell.js'
import { createDoors, PROXY_PORT } from './launch/doors.js'
import type { CallNetwork } from './launch/doors.js'
import { probeHost } from './host.js'
import type { HostFacts } from './host.js'
import { TO_CELL, encodeFrame } from './frames.js'
import { forOwners } from './plan/for-owners.js'
import { interrupted } from './result/interrupted.js'
import { findLauncher } from './host/launcher.js'
import { spawnLauncher, startNursery } from './launch/nursery.js'
import { chooseForm, headStartOf } from './plan/plan-cell.js'
import type { CellRequest, Observing, PlannedCell } from './plan/plan-cell.js'
import { ALL_FRAMES, brokeredOf } from './plan/plan.js'
import type { Command, Form, Plan } from './plan/plan.js'
import { createPlanner } from './plan/planner.js'
import { createPool } from './launch/pool.js'
import type { Pool } from './launch/pool.js'
import { NO_PATROL, beginPatrol } from './watch/patrols.js'
import type { CallPatrol } from './watch/patrols.js'
import { SYSTEM_PATH, programNamedIn } from './grants/program.js'
import { groundOf, isStillTrue, startEarly } from './launch/ready-cell.js'
import type { OpenedCell, ReadyCell, StartedProgram } from './launch/ready-cell.js'
import { heldMechanisms, refuseMissingMechanisms } from './plan/requirements.js'
import { startWatcher } from './watch/watcher.js'
import type { Watcher } from './watch/watcher.js'
import { createEnder, disturbanceIn, seenDisturbance, untilUndisturbed, watchRun } from './launch/watched-run.js'
import type { Disturbance, Ender, WatchedRun } from './launch/watched-run.js'
import type { Identity } from './plan/workspace-owner.js'

export interface SandboxOptions {
  /** `auto` takes the strongest form that this host holds. */
  readonly form?: Form | 'auto'
  readonly launcher?: string
  /** `none` where hardly a call will be made: each then starts its launcher itself. */
  readonly nursery?: 'start' | 'none'
}

export interface CellSettings {
  readonly boundary: Boundary
  readonly cwd: string
  /** Where `environment` entries without a value are taken from. Nothing of it is passed otherwise. */
  readonly hostEnvironment?: Readonly<Record<string, string>>
  /** Where a program given by its name is looked up. */
  readonly searchPath?: string
  readonly form?: Form | 'auto'
  /** `changes` when not given. */
  readonly observe?: Observing
  /**
   * Starts the program before its call and gives it this input first; it waits for the rest, which is the
   * call's. Its limits of time count from there. All calls then have these words.
   */
  readonly early?: { readonly argv: readonly string[]; readonly stdin: Uint8Array }
  /**
   * Who serves granted hosts: the certificate that its own are issued by, in PEM. Its calls then name their network.
   */
  readonly proxy?: { readonly authority: string }
}

export interface RunRequest extends CellSettings, RunInput {}

export interface RunInput {
  readonly argv: readonly string[]
  readonly stdin?: string | Uint8Array
  readonly signal?: AbortSignal
  /** Of a call that has hosts granted. */
  readonly network?: CallNetwork
  readonly onStdout?: (bytes: Uint8Array) => void
  readonly onStderr?: (bytes: Uint8Array) => void
  /** Asked when the boundary stands and the program is about to be started. When it rejects the program is not. */
  readonly beforeStart?: () => Promise<void>
}

export interface Sandbox {
  readonly host: HostFacts
  /** What a policy can require here. */
  readonly mechanisms: () => readonly Mechanism[]
  readonly run: (request: RunRequest) => Promise<CallResult>
  /** Runs one command on this process's own stdin, stdout and stderr. */
  readonly attach: (request: AttachedRequest) => Promise<CallResult>
  /** Holds the next cells of one program ready: boundary applied, waiting for arguments. */
  readonly warm: (settings: CellSettings & { readonly program: string }) => Pool
  /**
   * Ends the calls that still run (they are refused with `sandbox-closed`) and settles when nothing of them is left.
   */
  readonly close: () => Promise<void>
}

const DEFAULT_OUTPUT_LIMIT = 64 * 1024 * 1024

type Streams = Pick<Plan, 'stdio' | 'foreground'>

const IN_MEMORY: Streams = { stdio: ALL_FRAMES, foreground: false }

export const openSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const own = await openSandboxAs(undefined, options)
  return own.host.isRoot ? { ...own, ...forOwners(own, (identity) => openSandboxAs(identity, options)) } : own
}

const openSandboxAs = async (identity: Identity | undefined, options: SandboxOptions): Promise<Sandbox> => {
  const launcher = options.launcher ?? findLauncher()
  const surroundings = {
    identity,
    isRoot: (identity?.uid ?? process.getuid?.()) === 0,
    temporaryFolder: parseAbsolutePath(tmpdir(), 'the temporary folder'),
  }
  // Inside a cell that shares the host's names for sockets a nursery may not listen; then each launcher is spawned.
  const doors = createDoors()
  const nurseryOrNone =
    options.nursery === 'none' ? undefined : startNursery(launcher, doors.receive, identity).catch(() => undefined)
  const [nursery, host] = await Promise.all([nurseryOrNone, probeHost(launcher, surroundings)])
  // Inside another cell a connection is made for us by its keeper, and the nursery would not know us by it. And
  // somebody may kill it.
  const connect = (isBrokered: boolean) =>
    host.listener.held && nursery?.isAlive() === true
      ? nursery.connect()
      : spawnLauncher(launcher, ALL_FRAMES, isBrokered ? doors.receive : undefined, identity)
  const planner = createPlanner(host)
  const pools = new Set<Pool>()
  const running = new Set<Cell>()
  const calls = new Set<Promise<CallResult>>()
  let watcher: Watcher | undefined
  let closed = false

  const refuseClosed = () => {
    if (closed) throw fail('sandbox-closed', { what: 'sandbox' })
  }
  const tracked = async (call: Promise<CallResult>): Promise<CallResult> => {
    calls.add(call)
    try {
      return await call
    } finally {
      calls.delete(call)
    }
  }
  /** A call that has not ended when the sandbox is closed is ended then. */
  const untilClosed = async (cell: Cell, call: Promise<CallResult>): Promise<CallResult> => {
    running.add(cell)
    try {
      const result = await call
      if (closed) throw interrupted(fail('sandbox-closed', { what: 'sandbox' }), result)
      return result
    } finally {
      running.delete(cell)
    }
  }

  const requestOf = (settings: CellSettings, program: string, streams: Streams = IN_MEMORY): CellRequest => {
    refuseClosed()
    const form = chooseForm(settings.form ?? options.form ?? 'auto', host)
    refuseMissingMechanisms(settings.boundary, form, host)
    return {
      boundary: streams === IN_MEMORY ? withOutputLimit(settings.boundary) : settings.boundary,
      cwd: parseAbsolutePath(settings.cwd, 'cwd'),
      program,
      searchPath: settings.searchPath ?? SYSTEM_PATH,
      hostEnvironment: settings.hostEnvironment ?? {},
      form,
      ...streams,
      clock: settings.early === undefined ? 'start' : 'begin',
      observe: settings.observe ?? 'changes',
      proxy:
        settings.boundary.network.kind === 'hosts' && settings.proxy !== undefined
          ? { ...settings.proxy, port: PROXY_PORT }
          : undefined,
    }
  }
  const connectAhead = (request: CellRequest): Duplex | undefined => {
    const network = headStartOf(request, host)
    if (network === undefined) return undefined
    const connection = connect(request.proxy !== undefined)
    // One that breaks before it is used is not used: another is opened then.
    connection.on('error', () => undefined)
    connection.write(encodeFrame(TO_CELL.headStart, Buffer.from(network)))
    return connection
  }
  // A promise, because others have begun meanwhile and must be waited for when this fails.
  const beginRequest = (settings: CellSettings, input: RunInput, ahead: boolean): Promise<BegunRequest> =>
    new Promise((resolve) => {
      const request = requestOf(settings, programNamedIn(input.argv))
      resolve({ request, connection: ahead ? connectAhead(request) : undefined })
    })
  /** A cell and, where hosts are granted, its way to them. */
  const open = ({ plan, encoded }: PlannedCell, connection: Duplex): OpenedCell => {
    const brokered = brokeredOf(plan)
    const door = brokered === undefined ? undefined : doors.make(brokered)
    const cell = openCell(connection, encoded())
    if (door === undefined) return { cell, door }
    const discard = () => {
      cell.discard()
      door.close()
    }
    return { cell: { ...cell, discard }, door }
  }
  const patrolFor = async ({ boundary }: CellSettings, onAppearance: () => void): Promise<CallPatrol> => {
    refuseClosed()
    if (boundary.write.length === 0 && !boundary.read.some(({ negated }) => negated)) return NO_PATROL
    if (watcher?.isAlive() !== true) watcher = startWatcher(launcher)
    return beginPatrol(watcher, boundary, onAppearance)
  }
  /** The cell did not come about. Where somebody changed what it was made for, another is built. */
  const failedAttempt = async (
    error: unknown,
    patrol: CallPatrol,
    ender: Ender,
    request: CellRequest,
  ): Promise<Disturbance> => {
    if (!(error instanceof CordonError && error.code === 'setup-failed')) {
      await patrol.end()
      throw error
    }
    // The program did not start: nothing in the write roots is its doing. And the watcher has told what it saw until
    // now.
    await patrol.giveUp()
    refuseClosed()
    planner.forget()
    const disturbance = disturbanceIn(error, ender)
    // Something that the plan was made of is no longer as it was. A new one says which, or serves the next call.
    if (!ender.isWanted()) planner.plan(request, patrol.sealed)
    if (disturbance === undefined) throw error
    return disturbance
  }
  const run = (settings: CellSettings, input: RunInput, waiting: Promise<ReadyCell | undefined>): Promise<CallResult> =>
    untilUndisturbed((isFirst) => tryRun(settings, input, isFirst ? waiting : NO_CELL))
  const tryRun = async (
    settings: CellSettings,
    input: RunInput,
    waiting: Promise<ReadyCell | undefined>,
  ): Promise<CallResult | Disturbance> => {
    const ender = createEnder()
    // All at once: the watcher looks, the pool does, and a launcher enters its namespaces.
    const asked = patrolFor(settings, ender.end)
    const begun = beginRequest(settings, input, waiting === NO_CELL)
    const [patrol, ready, { request, connection }] = await allBegun(asked, waiting, begun)
    try {
      refuseClosed()
      const usable =
        ready !== undefined &&
        isStillTrue(ready, request.program, patrol.sealed) &&
        planner.agrees(ready.planned, request, patrol.sealed)
      if (!usable) ready?.cell.discard()
      const planned = usable ? ready.planned : planner.plan(request, patrol.sealed)
      await patrol.hold(planned.carved)
      if (ender.isWanted()) throw seenDisturbance()
      const opened = usable
        ? ready
        : open(planned, connection?.destroyed === false ? connection : connect(request.proxy !== undefined))
      const cell = ender.of(opened.cell)
      const started = usable ? ready.started : startedIn(cell, planned, settings)
      return await untilClosed(
        cell,
        runIn(opened, planned, settings, input, watchRun(patrol, planner, request, planned), started),
      )
    } catch (error) {
      connection?.destroy()
      ready?.cell.discard()
      return failedAttempt(error, patrol, ender, request)
    }
  }
  const attach = (request: AttachedRequest): Promise<CallResult> => untilUndisturbed(() => tryAttach(request))
  const tryAttach = async (request: AttachedRequest): Promise<CallResult | Disturbance> => {
    const ender = createEnder()
    const stdio = attachedStdio(request)
    const cellRequest = requestOf(request, programNamedIn(request.argv), { stdio, foreground: request.foreground })
    const patrol = await patrolFor(request, ender.end)
    try {
      const planned = planner.plan(cellRequest, patrol.sealed)
      await patrol.hold(planned.carved)
      if (ender.isWanted()) throw seenDisturbance()
      const opened = open(
        planned,
        spawnLauncher(launcher, stdio, brokeredOf(planned.plan) === undefined ? undefined : doors.receive, identity),
      )
      const cell = ender.of(opened.cell)
      return await untilClosed(
        cell,
        runAttached(opened, planned, request, watchRun(patrol, planner, cellRequest, planned)),
      )
    } catch (error) {
      return failedAttempt(error, patrol, ender, cellRequest)
    }
  }
  const prepare = async (settings: CellSettings, program: string): Promise<ReadyCell> => {
    const patrol = await patrolFor(settings, () => undefined)
    // Watched again from the moment it is used: what the user does meanwhile is the user's.
    await patrol.giveUp()
    const request = requestOf(settings, program)
    const planned = planner.plan(request, patrol.sealed)
    const ground = groundOf(planned.ground)
    const { cell, door } = open(planned, connect(request.proxy !== undefined))
    return { cell, door, program, planned, sealed: patrol.sealed, ground, started: startedIn(cell, planned, settings) }
  }

  return {
    host,
    mechanisms: () => heldMechanisms(chooseForm(options.form ?? 'auto', host), host),
    run: (request) => tracked(run(request, request, NO_CELL)),
    attach: (request) => tracked(attach(request)),
    warm: (settings) => {
      const pool = createPool(
        () => prepare(settings, settings.program),
        (input, waiting) => tracked(run(settings, input, waiting)),
        () => pools.delete(pool),
      )
      pools.add(pool)
      return pool
    },
    close: async () => {
      closed = true
      for (const pool of pools) pool.close()
      for (const cell of running) cell.kill()
      await Promise.allSettled(calls)
      watcher?.close()
      nursery?.close()
    },
  }
}

const NO_CELL = Promise.resolve(undefined)

const withOutputLimit = (boundary: Boundary): Boundary =>
  boundary.limits.output === undefined
    ? { ...boundary, limits: { ...boundary.limits, output: DEFAULT_OUTPUT_LIMIT } }
    : boundary

const startedIn = (cell: Cell, planned: PlannedCell, settings: CellSettings): StartedProgram | undefined =>
  settings.early === undefined
    ? undefined
    : startEarly(cell, commandOf(planned, settings, settings.early.argv), settings.early.stdin)

const commandOf = (
  planned: PlannedCell,
  settings: CellSettings,
  argv: readonly string[],
  network?: CallNetwork,
): Command => ({
  program: planned.program.path,
  argv,
  environment: environmentOf(planned, settings, network),
})

const runIn = async (
  { cell, door }: OpenedCell,
  planned: PlannedCell,
  settings: CellSettings,
  input: RunInput,
  watched: WatchedRun,
  started: StartedProgram | undefined,
): Promise<CallResult> => {
  const stdout = collect(input.onStdout)
  const stderr = collect(input.onStderr)
  const { signal } = input
  const isCancelled = () => signal?.aborted === true
  const abort = () => {
    cell.kill()
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    if (input.beforeStart !== undefined) {
      await cell.ready
      await input.beforeStart()
    }
    if (isCancelled()) throw fail('cancelled', {}, signal?.reason)
    openDoor(door, input.network)
    watched.go()
    const [stdin, streams] = [bytesOf(input.stdin), { onStdout: stdout.take, onStderr: stderr.take }]
    const end = await (started?.begin(stdin, streams) ??
      cell.start(commandOf(planned, settings, input.argv, input.network), stdin, streams))
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

const bytesOf = (stdin: string | Uint8Array | undefined): Uint8Array =>
  typeof stdin === 'string' ? Buffer.from(stdin) : (stdin ?? new Uint8Array())
