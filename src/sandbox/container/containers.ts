// Runs calls in containers: keeps started ones ready, each for one call, and removes them.
import { CordonError, fail } from '../../errors/index.js'
import { parseAbsolutePath } from '../../policy/index.js'

import type { CallResult } from '../call-result.js'
import { findLauncher } from '../host/launcher.js'
import type { HostFacts } from '../host.js'
import { runAttached } from '../launch/attached.js'
import { openCell } from '../launch/cell.js'
import type { Cell } from '../launch/cell.js'
import { PROXY_PORT, createDoors } from '../launch/doors.js'
import { createPool, keepLatest } from '../launch/pool.js'
import { groundOf, isStillTrue } from '../launch/ready-cell.js'
import type { ReadyCell } from '../launch/ready-cell.js'
import { runIn } from '../launch/run-in-cell.js'
import type { WatchedRun } from '../launch/watched-run.js'
import type { CellRequest } from '../plan/planned-cell.js'
import { ALL_FRAMES, brokeredOf } from '../plan/plan.js'
import { departureFromPlan } from '../result/applied-profile.js'
import type { AttachedRequest, CellSettings, Pool, RunInput } from '../sandbox-interface.js'
import { withOutputLimit } from '../plan/plan-limits.js'
import { createPatrols } from '../watch/patrols.js'
import type { CallPatrol } from '../watch/patrols.js'
import { engineSockets, namesDigest, openEngine } from './engine.js'
import type { Image } from './engine.js'
import { sweepLeftovers } from './leftovers.js'
import { mountsFor } from './mounts.js'
import { planContainer, refuseInexpressible } from './plan-container.js'
import { probeContainer } from './probe-container.js'
import { startContainer } from './start-container.js'
import type { StartedContainer } from './start-container.js'

export interface ContainerOptions {
  /** Of the engine (default: DOCKER_HOST, then those of this user, then those of the system). */
  readonly socket?: string
  readonly launcher?: string
  /** `digest`: an image by a tag is refused (default: any). */
  readonly images?: 'digest' | 'any'
}

export interface ContainerSettings extends CellSettings {
  readonly image: string
  /** An OCI runtime of the engine, such as `runsc` (default: the engine's own). */
  readonly runtime?: string
  readonly program: string
}

export interface Containers {
  readonly run: (settings: ContainerSettings, input: RunInput) => Promise<CallResult>
  /** Runs one command that has no terminal. The caller passes its input and output on while it runs. */
  readonly attach: (request: ContainerSettings & AttachedRequest) => Promise<CallResult>
  /** Keeps started containers of one program ready. */
  readonly warm: (settings: ContainerSettings) => Pool
  readonly close: () => Promise<void>
}

const MOST_KEPT = 8
/** `environment`: of the program that embeds Cordon. It may name the socket. */
export const openContainers = async (
  options: ContainerOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Containers> => {
  const launcher = options.launcher ?? findLauncher()
  const engine = await openEngine(options.socket === undefined ? engineSockets(environment) : [options.socket])
  await sweepLeftovers(engine)
  const doors = createDoors()
  const patrols = createPatrols(launcher)
  const images = new Map<string, Promise<Image>>()
  const probes = new Map<string, Promise<HostFacts>>()
  const kept = keepLatest(MOST_KEPT)
  const pools = new Set<Pool>()
  const running = new Set<Cell>()
  const calls = new Set<Promise<unknown>>()
  const removals = new Set<Promise<void>>()
  let closed = false

  const refuseClosed = () => {
    if (closed) throw fail('sandbox-closed', { what: 'sandbox' })
  }
  /** A tag is resolved once: it may be moved while this process lives. */
  const imageOf = (name: string): Promise<Image> =>
    remembered(images, name, async () => {
      const image = await engine.image(name)
      if (options.images === 'digest' && !namesDigest(name))
        throw fail('image-by-tag', { image: name, pinned: image.digest })
      return image
    })
  const start = (settings: ContainerSettings, image: Image, binds: Parameters<typeof startContainer>[0]['binds']) =>
    startContainer(
      {
        engine,
        image,
        launcher,
        program: settings.program,
        binds,
        limits: settings.boundary.limits,
        runtime: settings.runtime,
      },
      doors.receive,
    )
  const factsFor = (settings: ContainerSettings, image: Image): Promise<HostFacts> =>
    remembered(probes, settings.runtime ?? '', async () => probeContainer(await start(settings, image, []), launcher))
  const patrolFor = async (settings: CellSettings, onAppearance: () => void): Promise<CallPatrol> => {
    refuseClosed()
    return patrols.begin(settings, onAppearance)
  }
  const removed = (container: StartedContainer): void => {
    const removal = container.remove().catch(() => undefined)
    removals.add(removal)
    void removal.then(() => removals.delete(removal))
  }

  const prepare = async (
    settings: ContainerSettings,
    sealed: CallPatrol['sealed'],
    output: Output,
    isFirst = true,
  ): Promise<ReadyCell> => {
    refuseClosed()
    const request = requestOf(settings, output)
    const image = await imageOf(settings.image)
    const facts = await factsFor(settings, image)
    refuseInexpressible(request, facts)
    const mounts = mountsFor(settings.boundary, sealed)
    const container = await start(settings, image, mounts.binds)
    try {
      const planned = planContainer({ request, facts, engine, image, mounts, sealed, hello: await container.hello })
      refuseClosed()
      const token = brokeredOf(planned.plan)?.token
      const door = token === undefined ? undefined : doors.make(token)
      const cell = openCell({ connection: container.cell, wall: undefined }, planned.encoded(), (applied) =>
        departureFromPlan(applied, planned.sum()),
      )
      const discard = () => {
        cell.discard()
        door?.close()
        removed(container)
      }
      await cell.ready
      cell.rest()
      return {
        // The process numbers of a container say nothing here.
        cell: { ...cell, discard, isAlive: container.isAlive },
        door,
        program: settings.program,
        planned,
        sealed,
        ground: groundOf(planned.ground),
        started: undefined,
      }
    } catch (error) {
      removed(container)
      // Its container ended. No program has begun, so another one is as good.
      if (isFirst && error instanceof CordonError && error.code === 'launcher-died')
        return prepare(settings, sealed, output, false)
      throw error
    }
  }
  const perform = async ({ settings, output, run }: Job, waiting = NO_CELL): Promise<CallResult> => {
    let cell: Cell | undefined
    const patrol = await patrolFor(settings, () => cell?.kill())
    try {
      const ready = await waiting
      const isUsable = ready !== undefined && isStillTrue(ready, settings.program, patrol.sealed)
      if (!isUsable) ready?.cell.discard()
      const opened = isUsable ? ready : await prepare(settings, patrol.sealed, output)
      await patrol.hold(opened.planned.carved)
      cell = opened.cell
      cell.take()
      running.add(cell)
      if (closed) cell.kill()
      const { planned } = opened
      const watched = {
        go: () => {
          patrol.go(planned.closed)
        },
        end: async () => (await patrol.end()).violations,
      }
      return await run(opened, watched)
    } catch (error) {
      cell?.discard()
      // The tool may have begun, and may have made something in its write roots until its container was gone.
      await Promise.allSettled(removals)
      await patrol.end()
      throw closed ? fail('sandbox-closed', { what: 'sandbox' }, error) : error
    } finally {
      if (cell !== undefined) running.delete(cell)
    }
  }
  const tracked = async (call: Promise<CallResult>): Promise<CallResult> => {
    calls.add(call)
    try {
      return await call
    } finally {
      calls.delete(call)
    }
  }

  return {
    run: (settings, input) => tracked(perform(keptJob(settings, input))),
    attach: (request) =>
      tracked(
        perform({
          settings: request,
          output: 'passed-on',
          run: (opened, watched) => runAttached(opened, opened.planned, request, watched),
        }),
      ),
    warm: (settings) => {
      const pool = createPool(
        async () => {
          const patrol = await patrolFor(settings, () => undefined)
          // The watch begins when the container is used: until then the user may change the roots.
          await patrol.giveUp()
          return prepare(settings, patrol.sealed, 'kept')
        },
        (input, waiting) => tracked(perform(keptJob(settings, input), waiting)),
        kept,
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
      await Promise.allSettled(removals)
      patrols.close()
    },
  }
}

/** Whether output is kept in memory, where it needs a limit. */
type Output = 'kept' | 'passed-on'

interface Job {
  readonly settings: ContainerSettings
  readonly output: Output
  readonly run: (opened: ReadyCell, watched: WatchedRun) => Promise<CallResult>
}

const NO_CELL: Promise<ReadyCell | undefined> = Promise.resolve(undefined)

const keptJob = (settings: ContainerSettings, input: RunInput): Job => ({
  settings,
  output: 'kept',
  run: (opened, watched) =>
    runIn(opened, opened.planned, { settings, input, onStarted: undefined }, watched, undefined),
})

/** A failure is not remembered. */
const remembered = <Value>(known: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>) => {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  made.catch(() => known.delete(key))
  return made
}

const requestOf = (settings: ContainerSettings, output: Output): CellRequest => ({
  boundary: output === 'kept' ? withOutputLimit(settings.boundary) : settings.boundary,
  cwd: parseAbsolutePath(settings.cwd, 'cwd'),
  program: settings.program,
  searchPath: '',
  hostEnvironment: settings.hostEnvironment ?? {},
  form: 'landlock',
  stdio: ALL_FRAMES,
  foreground: false,
  relay: 'gathered',
  clock: 'start',
  observe: settings.observe ?? 'changes',
  proxy:
    settings.boundary.network.kind === 'hosts' && settings.proxy !== undefined
      ? { ...settings.proxy, port: PROXY_PORT }
      : undefined,
})
