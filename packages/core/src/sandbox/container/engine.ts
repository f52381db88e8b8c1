// A container engine: what it can do, its images, and containers of Cordon in it.
import type { Socket } from 'node:net'
import { posix } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { fail } from '../../errors/index.js'

import {
  askEngine,
  expectEngine,
  fieldsOf,
  hijackEngine,
  isSuccess,
  listOf,
  refusalOfEngine,
} from './engine-request.js'
import type { EngineRequest } from './engine-request.js'
import { findEngine } from './find-engine.js'
import type { FoundEngine } from './find-engine.js'

export interface Engine extends FoundEngine {
  readonly image: (name: string) => Promise<Image>
  readonly create: (body: unknown) => Promise<string>
  /** The OCI runtime that a container was made with. */
  readonly runtimeOf: (id: string) => Promise<string>
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

interface LabelledContainer {
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

/** At the first of these paths where an engine answers. */
export const openEngine = async (sockets: readonly string[]): Promise<Engine> => {
  const found = await findEngine(sockets)
  const { socket } = found
  const create = async (body: unknown): Promise<string> => {
    const { value } = await expectEngine({ socket, method: 'POST', path: '/containers/create', body })
    return String(fieldsOf(value)['Id'])
  }
  return {
    ...found,
    image: async (name) => {
      const image = await findImage(socket, name)
      return found.name === 'podman' ? completeByPodman(socket, image) : image
    },
    create: found.name === 'podman' && found.isRootless ? oneAtATime(create) : create,
    runtimeOf: (id) => runtimeOf(found, id),
    attach: (id) =>
      hijackEngine({
        socket,
        method: 'POST',
        path: `/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
      }),
    start: async (id) => {
      await expectEngine({ socket, method: 'POST', path: `/containers/${id}/start` })
    },
    remove: (id) => removeContainer(socket, id),
    labelled: async (label) => {
      const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
      const { value } = await expectEngine({ socket, method: 'GET', path: `/containers/json?all=1&filters=${filters}` })
      return listOf(value).map((each) => ({
        id: String(fieldsOf(each)['Id']),
        labels: fieldsOf(fieldsOf(each)['Labels']) as Readonly<Record<string, string>>,
      }))
    },
  }
}

/**
 * A rootless Podman looks up the subordinate ids of its user for each container that it makes, with a library that is
 * not safe for threads (github.com/containers/storage/issues/2030). Two such requests at the same time can crash it.
 */
const oneAtATime = (create: Engine['create']): Engine['create'] => {
  let last: Promise<unknown> = Promise.resolve()
  return (body) => {
    const made = last.then(() => create(body))
    last = made.catch(() => undefined)
    return made
  }
}

/** Podman tells it only in its own API. */
const runtimeOf = async ({ socket, name }: FoundEngine, id: string): Promise<string> => {
  const path = `${name === 'podman' ? '/libpod' : ''}/containers/${id}/json`
  const fields = fieldsOf((await expectEngine({ socket, method: 'GET', path })).value)
  const runtime = name === 'podman' ? fields['OCIRuntime'] : fieldsOf(fields['HostConfig'])['Runtime']
  return typeof runtime === 'string' ? runtime : 'unknown'
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
    if (removals === MOST_REMOVALS) throw refusalOfEngine(asked, answer)
    await wait(BETWEEN_REMOVALS_MS)
  }
}

const DIGEST = /^(?:(?<name>.+)@)?(?<digest>sha256:[0-9a-f]{64})$/

/** Only for the error: engines know better which names they take. */
const NAME = /^[\w.:/-]+(?:@sha256:[0-9a-f]{64})?$/

const findImage = async (socket: string, name: string): Promise<Image> => {
  const asked: EngineRequest = { socket, method: 'GET', path: `/images/${encodeURIComponent(name)}/json` }
  const answer = await askEngine(asked)
  if (answer.status === 404) throw fail('image-missing', { image: name, socket })
  if (!isSuccess(answer))
    throw NAME.test(name) ? refusalOfEngine(asked, answer) : fail('image-name-invalid', { image: name })
  const { Id: id, RepoDigests: digests, Config: config } = fieldsOf(answer.value)
  const digest = typeof id === 'string' ? (id.startsWith('sha256:') ? id : `sha256:${id}`) : ''
  const known = listOf(digests).map(String)
  if (!DIGEST.test(digest) || !isNamed(name, digest, known))
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
    hasHealthCheck: isThere(check),
    volumes: Object.keys(fieldsOf(volumes)).map((path) => posix.resolve(path)),
  }
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null

/**
 * Podman finds an image by its digest alone, whatever name is before it. Rules are about that name, so it has to be one
 * of this image.
 */
const isNamed = (given: string, digest: string, known: readonly string[]): boolean => {
  const { name, digest: wanted } = DIGEST.exec(given)?.groups ?? {}
  if (wanted === undefined) return true
  if (name === undefined) return [digest, ...known.map((each) => each.replace(/^.*@/, ''))].includes(wanted)
  return repositoriesOf(name).some((repository) => known.includes(`${repository}@${wanted}`))
}

/** Docker shortens names of its own registry. Podman writes them in full, and has its own registry for local images. */
const repositoriesOf = (name: string): readonly string[] => {
  const plain = name.replace(/:[^/:]*$/, '')
  if (plain.startsWith('docker.io/')) return [plain, plain.replace(/^docker\.io\/(?:library\/)?/, '')]
  const isWhole = /^(?:localhost|[^/.:]*[.:][^/]*)\//.test(plain)
  return isWhole ? [plain] : [plain, ...['docker.io/library', 'docker.io', 'localhost'].map((at) => `${at}/${plain}`)]
}

/**
 * What Podman says only in its own API. It leaves the health check out of Docker's, and runs it. It hands annotations
 * to its runtime, and crun takes a seccomp filter from one of them.
 */
const completeByPodman = async (socket: string, image: Image): Promise<Image> => {
  const { value } = await expectEngine({ socket, method: 'GET', path: `/libpod/images/${image.digest}/json` })
  const { Annotations: annotations, Healthcheck: check } = fieldsOf(value)
  const annotation = Object.keys(fieldsOf(annotations)).find((name) => !HARMLESS.test(name))
  if (annotation !== undefined)
    throw fail('image-annotated', { image: image.digest, annotation: JSON.stringify(annotation) })
  return { ...image, hasHealthCheck: image.hasHealthCheck || isThere(check) }
}

const HARMLESS = /^(?:org\.opencontainers\.image|io\.buildah)\./

/** Whether a name says the digest of its image, and not only a tag that may be moved. */
export const namesDigest = (image: string): boolean => DIGEST.test(image)
