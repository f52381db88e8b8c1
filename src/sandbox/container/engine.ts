// A container engine: what it can do, its images, and containers of Cordon in it.
import { lstatSync } from 'node:fs'
import type { Socket } from 'node:net'
import { posix } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { fail } from '../../errors/index.js'

import { askEngine, hijackEngine, refusedBy } from './engine-request.js'
import type { EngineAnswer, EngineRequest } from './engine-request.js'

export interface Engine {
  readonly socket: string
  readonly name: 'podman' | 'docker'
  readonly isRootless: boolean
  /** Whether it can limit the memory of a container here. */
  readonly limitsMemory: boolean
  readonly limitsProcesses: boolean
  readonly image: (name: string) => Promise<Image>
  readonly create: (body: unknown) => Promise<string>
  readonly attach: (id: string) => Promise<{ readonly connection: Socket; readonly first: Buffer }>
  readonly start: (id: string) => Promise<void>
  /** Also if it is gone already. */
  readonly remove: (id: string) => Promise<void>
  readonly labelled: (label: string) => Promise<readonly LabelledContainer[]>
}

/** An image, by the digest of what it contains. */
export interface Image {
  readonly digest: string
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string
  readonly hasHealthCheck: boolean
  /** Folders that the engine mounts an empty volume at. */
  readonly volumes: readonly string[]
}

export interface LabelledContainer {
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

/** The sockets that are tried, in this order: those of this user first. */
export const engineSockets = (
  environment: Readonly<Record<string, string | undefined>>,
  uid: number | undefined = process.getuid?.(),
): readonly string[] => {
  const { DOCKER_HOST: named = '', XDG_RUNTIME_DIR: runtime = `/run/user/${uid}` } = environment
  if (named !== '') return named.startsWith('unix://') ? [named.slice('unix://'.length)] : []
  const own = [`${runtime}/podman/podman.sock`, `${runtime}/docker.sock`]
  return [...own, '/run/podman/podman.sock', '/var/run/docker.sock']
}

/** At the first of these paths that is a socket. If nobody answers there, that is an error. */
export const openEngine = async (sockets: readonly string[]): Promise<Engine> => {
  const socket = sockets.find(isSocket)
  if (socket === undefined) throw fail('container-engine-missing', { sockets: sockets.join(', ') || 'no unix socket' })
  const [version, info] = await Promise.all([
    expected({ socket, method: 'GET', path: '/version' }),
    expected({ socket, method: 'GET', path: '/info' }),
  ])
  const facts = fieldsOf(info.value)
  // Podman says it in a field of its own, Docker among these options.
  const isRootless =
    facts['Rootless'] === true || listOf(facts['SecurityOptions']).some((each) => String(each).includes('rootless'))
  const isPodman = listOf(fieldsOf(version.value)['Components']).some(
    (each) => fieldsOf(each)['Name'] === 'Podman Engine',
  )
  const canLimit = await limitsOf(socket, isPodman && isRootless)
  return {
    socket,
    name: isPodman ? 'podman' : 'docker',
    isRootless,
    limitsMemory: facts['MemoryLimit'] === true && canLimit('memory'),
    limitsProcesses: facts['PidsLimit'] === true && canLimit('pids'),
    image: async (name) => {
      const image = await findImage(socket, name)
      if (isPodman) await refuseAnnotations(socket, image.digest)
      return image
    },
    create: async (body) => {
      const { value } = await expected({ socket, method: 'POST', path: '/containers/create', body })
      return String(fieldsOf(value)['Id'])
    },
    attach: (id) =>
      hijackEngine({
        socket,
        method: 'POST',
        path: `/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
      }),
    start: async (id) => {
      await expected({ socket, method: 'POST', path: `/containers/${id}/start` })
    },
    remove: (id) => removeContainer(socket, id),
    labelled: async (label) => {
      const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
      const { value } = await expected({ socket, method: 'GET', path: `/containers/json?all=1&filters=${filters}` })
      return listOf(value).map((each) => ({
        id: String(fieldsOf(each)['Id']),
        labels: fieldsOf(fieldsOf(each)['Labels']) as Readonly<Record<string, string>>,
      }))
    },
  }
}

/** A rootless Podman takes limits, and ignores those whose controller its user was not given. */
const limitsOf = async (socket: string, isRootlessPodman: boolean): Promise<(controller: string) => boolean> => {
  if (!isRootlessPodman) return () => true
  const { value } = await expected({ socket, method: 'GET', path: '/libpod/info' })
  const controllers = listOf(fieldsOf(fieldsOf(value)['host'])['cgroupControllers'])
  return (controller) => controllers.includes(controller)
}

const MOST_REMOVALS = 20
const BETWEEN_REMOVALS_MS = 50

/** Podman refuses to remove a container that ends by itself while it is being killed. The next request removes it. */
const removeContainer = async (socket: string, id: string): Promise<void> => {
  const asked: EngineRequest = { socket, method: 'DELETE', path: `/containers/${id}?force=1&v=1` }
  for (let removals = 1; ; removals++) {
    const answer = await askEngine(asked)
    // Gone, or on its way.
    if (isSuccess(answer) || answer.status === 404 || answer.status === 409) return
    if (removals === MOST_REMOVALS) throw refusedBy(asked, answer)
    await wait(BETWEEN_REMOVALS_MS)
  }
}

const DIGEST = /^(?:(?<name>.+)@)?(?<digest>sha256:[0-9a-f]{64})$/

const findImage = async (socket: string, name: string): Promise<Image> => {
  const asked: EngineRequest = { socket, method: 'GET', path: `/images/${encodeURIComponent(name)}/json` }
  const answer = await askEngine(asked)
  if (answer.status === 404) throw fail('image-missing', { image: name })
  if (!isSuccess(answer)) throw refusedBy(asked, answer)
  const { Id: id, RepoDigests: digests, Config: config } = fieldsOf(answer.value)
  const digest = typeof id === 'string' ? (id.startsWith('sha256:') ? id : `sha256:${id}`) : ''
  const wanted = DIGEST.exec(name)?.groups?.['digest']
  const known = [digest, ...listOf(digests).map((each) => String(each).replace(/^.*@/, ''))]
  if (!DIGEST.test(digest) || (wanted !== undefined && !known.includes(wanted)))
    throw fail('image-not-the-digest', { image: name, found: digest || 'an image without a digest' })
  const { Env: variables, WorkingDir: folder, Healthcheck: check, Volumes: volumes } = fieldsOf(config)
  return {
    digest,
    environment: Object.fromEntries(
      listOf(variables).map((each) => {
        const [key = '', ...value] = String(each).split('=')
        return [key, value.join('=')]
      }),
    ),
    folder: typeof folder === 'string' && folder.startsWith('/') ? folder : '/',
    hasHealthCheck: check !== undefined && check !== null,
    volumes: Object.keys(fieldsOf(volumes)).map((path) => posix.resolve(path)),
  }
}

/** Podman hands the annotations of an image to its runtime. crun takes a seccomp filter from one of them. */
const refuseAnnotations = async (socket: string, image: string): Promise<void> => {
  const { value } = await expected({ socket, method: 'GET', path: `/libpod/images/${image}/json` })
  const annotation = Object.keys(fieldsOf(fieldsOf(value)['Annotations'])).find((name) => !HARMLESS.test(name))
  if (annotation !== undefined) throw fail('image-annotated', { image, annotation: JSON.stringify(annotation) })
}

const HARMLESS = /^(?:org\.opencontainers\.image|io\.buildah)\./

/** Whether a name says the digest of its image, and not only a tag that may be moved. */
export const namesDigest = (image: string): boolean => DIGEST.test(image)

const expected = async (asked: EngineRequest): Promise<EngineAnswer> => {
  const answer = await askEngine(asked)
  if (!isSuccess(answer)) throw refusedBy(asked, answer)
  return answer
}

const isSuccess = ({ status }: EngineAnswer): boolean => (status >= 200 && status < 300) || status === 304

const isSocket = (path: string): boolean => {
  try {
    return lstatSync(path).isSocket()
  } catch {
    return false
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])
