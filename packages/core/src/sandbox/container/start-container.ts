// Makes and starts one container for one cell, and attaches to it. Removes those that nobody removed.
import { basename } from 'node:path'
import type { Duplex } from 'node:stream'
import { hostname } from 'node:os'

import { fail } from '../../errors/index.js'
import type { Boundary } from '../../policy/index.js'
import { DEFAULT_LIMITS } from '../../policy/index.js'
import { PLATFORM, describeSelf, isDead } from '../../platform/index.js'

import { carryConnections } from './carried-connections.js'
import type { Attached } from './carried-connections.js'
import { mountsProblem, viewOfHost } from './compare-mounts.js'
import type { AskedMounts } from './compare-mounts.js'
import type { Engine, Image } from './engine.js'
import type { Hello } from './hello.js'
import type { Bind } from './granted-mounts.js'
import { TEMPORARY, launcherPath, searchPathOf } from './plan-container.js'

interface ContainerRequest {
  readonly engine: Engine
  readonly image: Image
  readonly launcher: string
  readonly binds: readonly Bind[]
  readonly settings: {
    readonly program: string
    readonly boundary: Pick<Boundary, 'limits'>
    readonly runtime?: string
  }
}

export interface StartedContainer extends Attached {
  /** Also ends it, and settles when it is gone. */
  readonly remove: () => Promise<void>
}

export const startContainer = async (
  request: ContainerRequest,
  onConnection: (message: unknown, stream: Duplex) => void,
): Promise<StartedContainer> => {
  const { engine, image, binds } = request
  const target = launcherPath()
  const id = await engine.create(containerBody(request, target))
  const remove = () => engine.remove(id)
  try {
    await refuseOtherRuntime(request, id)
    // Before it starts, so that nothing it says is lost.
    const { connection, first } = await engine.attach(id)
    const attached = carryConnections(connection, first, onConnection)
    await engine.start(id)
    const asked = { binds, others: [target, TEMPORARY, ...image.volumes] }
    return { ...attached, hello: comparedHello(attached.hello, asked), remove }
  } catch (error) {
    await remove().catch(() => undefined)
    throw error
  }
}

/** Podman ignores the runtime that a request names, and takes that of its own settings. */
const refuseOtherRuntime = async ({ engine, settings }: ContainerRequest, id: string): Promise<void> => {
  const { runtime } = settings
  if (runtime === undefined) return
  const found = await engine.runtimeOf(id)
  if (found !== runtime && basename(found) !== runtime) throw fail('container-runtime-ignored', { runtime, found })
}

/** Fails if the container has other mounts than those that were asked for. */
const comparedHello = (told: Promise<Hello>, asked: AskedMounts): Promise<Hello> => {
  const compared = told.then((hello) => {
    const problem = mountsProblem(asked, hello, viewOfHost())
    if (problem !== undefined) throw problem
    return hello
  })
  compared.catch(() => undefined)
  return compared
}

/** The launcher and its supervisor take some too. */
const OWN_MEMORY = 64 * 1024 * 1024
const OWN_PROCESSES = 16

const containerBody = (
  { engine, image, launcher, binds, settings: { program, boundary, runtime } }: ContainerRequest,
  target: string,
): unknown => {
  const { limits } = boundary
  const memory = limits.memory === undefined ? undefined : limits.memory + OWN_MEMORY
  return {
    Image: image.digest,
    Entrypoint: [target],
    Cmd: ['relay', program, searchPathOf(image)],
    User: userOf(engine),
    WorkingDir: '/',
    Hostname: 'cordon',
    Labels: ownerLabel(),
    // The engine would run it in the container, outside of the cell.
    ...(image.hasHealthCheck ? { Healthcheck: { Test: ['NONE'] } } : {}),
    Tty: false,
    OpenStdin: true,
    // The launcher sees an end when this process, or the engine, is gone.
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      AutoRemove: true,
      IpcMode: 'private',
      LogConfig: { Type: 'none', Config: {} },
      ...(runtime === undefined ? {} : { Runtime: runtime }),
      ...(engine.name === 'podman' && engine.isRootless ? { UsernsMode: 'keep-id' } : {}),
      ...(memory !== undefined && engine.limitsMemory ? { Memory: memory, MemorySwap: memory } : {}),
      ...(engine.limitsProcesses ? { PidsLimit: (limits.processes ?? DEFAULT_LIMITS.processes) + OWN_PROCESSES } : {}),
      Tmpfs: {
        [TEMPORARY]: emptyFolder(engine, `rw,exec,mode=1777,size=${(limits.scratch ?? DEFAULT_LIMITS.scratch) + ROOM}`),
        ...Object.fromEntries(
          binds.filter(isCover).map(({ path }) => [path, emptyFolder(engine, 'ro,mode=0555,size=4k')]),
        ),
      },
      Mounts: [
        { Type: 'bind', Source: launcher, Target: target, ReadOnly: true },
        ...binds.filter((bind) => !isCover(bind)).map(mountOf),
      ],
    },
  }
}

/** A hidden folder is covered by an empty one, a hidden file by the null device. */
const isCover = ({ access, object }: Bind): boolean => access === 'hide' && object === 'directory'

/** Podman would copy into it what lies beneath. */
const emptyFolder = ({ name }: Engine, options: string): string =>
  `${options},nosuid,nodev${name === 'podman' ? ',notmpcopyup' : ''}`

const mountOf = ({ path, access }: Bind): unknown => ({
  Type: 'bind',
  Source: access === 'hide' ? '/dev/null' : path,
  Target: path,
  ReadOnly: access !== 'write',
  BindOptions: { Propagation: 'rprivate' },
})

/** For the cell's own files, which the supervisor counts too. */
const ROOM = 1024 * 1024

/** The user of this process. In a rootless Docker that is the root of the container. */
const userOf = ({ name, isRootless }: Engine): string => {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return name === 'docker' && isRootless ? '0:0' : `${uid}:${gid}`
}

const OWNER = 'cordon.owner'

/** The label of a container: the process that it belongs to, which no other process ever equals. */
const ownerLabel = (): Readonly<Record<string, string>> => ({
  [OWNER]: JSON.stringify([placeOf(), describeSelf()]),
})

/**
 * Removes the containers of processes that were killed between making and removing one. Those of another machine, or of
 * another container, stay. So does one that the engine cannot remove: the next process tries it again.
 */
export const sweepLeftovers = async (engine: Engine): Promise<void> => {
  const containers = await engine.labelled(OWNER)
  const left = containers.filter(({ labels }) => isLeft(labels[OWNER] ?? ''))
  await Promise.allSettled(left.map(({ id }) => engine.remove(id)))
}

const isLeft = (label: string): boolean => {
  try {
    const [place, owner] = JSON.parse(label) as readonly unknown[]
    return place === placeOf() && typeof owner === 'string' && isDead(owner, describeSelf())
  } catch {
    return false
  }
}

/** Process numbers mean something in one pid namespace, of one boot, of one machine. */
const placeOf = (): string => [hostname(), PLATFORM.bootId(), PLATFORM.pidNamespace()].join(' ')
