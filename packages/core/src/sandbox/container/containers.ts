// Runs calls in containers: keeps started ones ready, each for one call, and removes them.
import { CordonError, fail } from '../../errors/index.js'

import type { CallResult } from '../call-result.js'
import { pathsOf } from '../grants/object-at.js'
import type { RealObject } from '../grants/object-at.js'
import { findLauncher } from '../host/launcher.js'
import type { HostFacts } from '../plan/host-facts.js'
import { IN_MEMORY, requestOf, runAttached, runIn } from '../launch/run-in-cell.js'
import type { Output } from '../launch/run-in-cell.js'
import { createDoors } from '../launch/doors.js'
import { createOpenCalls } from '../launch/open-calls.js'
import { createPool, groundOf, isStillTrue, keepLatest, openPlanned } from '../launch/pool.js'
import type { ReadyCell } from '../launch/pool.js'
import { createEnder, seenDisturbance, untilUndisturbed } from '../launch/watched-run.js'
import type { Disturbance, WatchedRun } from '../launch/watched-run.js'
import type { AttachedRequest, CellSettings, Pool, RunInput } from '../sandbox-interface.js'
import { createPatrols } from '../watch/patrols.js'
import type { CallPatrol } from '../watch/patrols.js'
import { namesDigest, openEngine } from './engine.js'
import type { Image } from './engine.js'
import { engineSockets } from './find-engine.js'
import { startContainer, sweepLeftovers } from './start-container.js'
import type { StartedContainer } from './start-container.js'
import { areSameMounts, mountsFor } from './granted-mounts.js'
import type { Bind, GrantedMounts } from './granted-mounts.js'
import { planContainer, refuseInexpressible } from './plan-container.js'
import { probeContainer } from './probe-container.js'
import { programNamedIn } from '../grants/program.js'

export interface ContainerOptions {
  /** Of the engine (default: DOCKER_HOST, then those of this user, then those of the system). */
  readonly socket?: string
  readonly launcher?: string
  /** `digest`: an image by a tag is refused (default: any). */
  readonly images?: 'digest' | 'any'
}

export interface Containers {
  readonly run: (settings: ContainerSettings, input: RunInput) => Promise<CallResult>
  /** Runs one command that has no terminal. The caller passes its input and output on while it runs. */
  readonly attach: (
    request: ContainerSettings & Omit<AttachedRequest, keyof CellSettings | 'terminals'>,
  ) => Promise<CallResult>
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
  const removals = new Set<Promise<void>>()
  const { isClosed, refuseClosed, tracked, untilClosed, ...calls } = createOpenCalls()

  /** A tag is resolved once: it may be moved while this process lives. */
  const imageOf = (name: string): Promise<Image> =>
    remembered(images, name, async () => {
      const image = await engine.image(name)
      if (options.images === 'digest' && !namesDigest(name))
        throw fail('image-by-tag', { image: name, pinned: image.digest })
      return image
    })
  const start = (settings: ContainerSettings, image: Image, binds: readonly Bind[]) =>
    startContainer({ engine, image, launcher, settings, binds }, doors.receive)
  const factsFor = (settings: ContainerSettings, image: Image): Promise<HostFacts> =>
    remembered(probes, settings.runtime ?? '', async () => probeContainer(await start(settings, image, []), launcher))
  const patrolFor = async (settings: ContainerSettings, onAppearance: () => void): Promise<CallPatrol> => {
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
  ): Promise<ReadyContainer> => {
    refuseClosed()
    const request = requestOf(settings, programNamedIn([settings.program]), 'landlock', IN_MEMORY, output)
    const image = await imageOf(settings.image)
    const facts = await factsFor(settings, image)
    refuseInexpressible(request, facts)
    const mounts = mountsFor(settings.boundary, sealed)
    // Before the engine mounts them, so that a change after this is seen.
    const ground = groundOf(pathsOf(mounts.binds))
    const container = await start(settings, image, mounts.binds)
    try {
      const planned = planContainer({ request, facts, engine, image, mounts, sealed, hello: await container.hello })
      refuseClosed()
      const { cell, door } = openPlanned(planned, { connection: container.cell, wall: undefined }, doors)
      const discard = () => {
        cell.discard()
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
        ground,
        started: undefined,
        mounts,
      }
    } catch (error) {
      removed(container)
      // Its container ended. No program has begun, so another one is as good.
      if (isFirst && error instanceof CordonError && error.code === 'launcher-died')
        return prepare(settings, sealed, output, false)
      throw error
    }
  }
  const attempt = async ({ settings, output, run }: Job, waiting: Waiting): Promise<CallResult | Disturbance> => {
    const ender = createEnder()
    let opened: ReadyContainer | undefined
    const patrol = await patrolFor(settings, ender.end).catch((error: unknown) => {
      void waiting.then((ready) => ready?.cell.discard())
      throw error
    })
    try {
      const ready = await waiting
      const isUsable = ready !== undefined && isStillMade(ready, settings, patrol.sealed)
      if (!isUsable) ready?.cell.discard()
      opened = isUsable ? ready : await prepare(settings, patrol.sealed, output)
      const { planned } = opened
      await patrol.hold(planned.carved)
      refuseClosed()
      // The watcher sees what changes from now on. Making a container takes long enough for a change before.
      if (!isStillMade(opened, settings, patrol.sealed)) ender.end()
      if (ender.isWanted()) throw seenDisturbance()
      const cell = ender.of(opened.cell)
      cell.take()
      const watched = {
        go: () => {
          patrol.go(planned.closed)
        },
        end: async () => (await patrol.end()).violations,
      }
      return await untilClosed(cell, run(opened, watched))
    } catch (error) {
      opened?.cell.discard()
      // The tool may have begun, and may have made something in its write roots until its container was gone.
      await Promise.allSettled(removals)
      const isDisturbed = ender.isWanted() && error instanceof CordonError && error.code === 'setup-failed'
      await (isDisturbed ? patrol.giveUp() : patrol.end())
      if (isDisturbed && !isClosed()) return { error, isSeen: true }
      throw isClosed() && !isRefusalOfClosed(error) ? fail('sandbox-closed', { what: 'sandbox' }, error) : error
    }
  }
  const perform = (job: Job, waiting: Waiting = NO_CELL): Promise<CallResult> =>
    tracked(untilUndisturbed((isFirst) => attempt(job, isFirst ? waiting : NO_CELL)))

  return {
    run: (settings, input) => perform(keptJob(settings, input)),
    attach: (request) =>
      perform({
        settings: request,
        output: 'passed-on',
        run: (opened, watched) => runAttached(opened, opened.planned, request, watched),
      }),
    warm: (settings) =>
      calls.pool((onClose) =>
        createPool(
          async () => {
            const patrol = await patrolFor(settings, () => undefined)
            // The watch begins when the container is used: until then the user may change the roots.
            await patrol.giveUp()
            return prepare(settings, patrol.sealed, 'kept')
          },
          (input, waiting) => perform(keptJob(settings, input), waiting),
          kept,
          onClose,
        ),
      ),
    close: async () => {
      await calls.close()
      await Promise.allSettled(removals)
      patrols.close()
    },
  }
}

type Waiting = Promise<ReadyContainer | undefined>

const NO_CELL: Waiting = Promise.resolve(undefined)

const isRefusalOfClosed = (error: unknown): boolean => error instanceof CordonError && error.code === 'sandbox-closed'

/** A failure is not remembered. */
const remembered = <Value>(known: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>) => {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  made.catch(() => known.delete(key))
  return made
}

/** A cell in a container has one form, the search path of its image, and no program that starts early. */
export interface ContainerSettings extends Omit<CellSettings, 'form' | 'searchPath' | 'early'> {
  readonly image: string
  /** An OCI runtime of the engine, such as `runsc` (default: the engine's own). */
  readonly runtime?: string
  readonly program: string
}

interface Job {
  readonly settings: ContainerSettings
  readonly output: Output
  readonly run: (opened: ReadyCell, watched: WatchedRun) => Promise<CallResult>
}

const keptJob = (settings: ContainerSettings, input: RunInput): Job => ({
  settings,
  output: 'kept',
  run: (opened, watched) =>
    runIn(opened, opened.planned, { settings, input, onStarted: undefined }, watched, undefined),
})

/** A started container that waits for its call. */
interface ReadyContainer extends ReadyCell {
  readonly mounts: GrantedMounts
}

/** Whether a container made now would be the same. */
const isStillMade = (
  ready: ReadyContainer,
  { program, boundary }: ContainerSettings,
  sealed: readonly RealObject[],
): boolean => {
  if (!isStillTrue(ready, program, sealed)) return false
  try {
    return areSameMounts(ready.mounts, mountsFor(boundary, sealed))
  } catch {
    return false // Making another one fails in the same way, and the call reports it.
  }
}
