// Which container engine answers: the sockets of this user first, then those of the system.
import { CordonError, fail } from '../../errors/index.js'
import { linkStatusAt } from '../../platform/index.js'

import { expectEngine, fieldsOf, listOf } from './engine-request.js'

/** A socket at which no engine can be used, and why. */
export interface SilentSocket {
  readonly socket: string
  readonly problem: string
}

export interface FoundEngine {
  readonly socket: string
  readonly name: 'podman' | 'docker'
  readonly version: string
  readonly isRootless: boolean
  /** Whether it can limit the memory of a container here. */
  readonly limitsMemory: boolean
  readonly limitsProcesses: boolean
}

/** The sockets that are tried, in this order. */
export const engineSockets = (
  environment: Readonly<Record<string, string | undefined>>,
  uid: number | undefined = process.getuid?.(),
): readonly string[] => {
  const { DOCKER_HOST: named = '', XDG_RUNTIME_DIR: runtime = `/run/user/${uid}` } = environment
  if (named !== '') return named.startsWith('unix://') ? [named.slice('unix://'.length)] : []
  const own = [`${runtime}/podman/podman.sock`, `${runtime}/docker.sock`]
  return [...own, '/run/podman/podman.sock', '/var/run/docker.sock']
}

/** At the first of these paths where an engine answers. */
export const findEngine = async (sockets: readonly string[]): Promise<FoundEngine> => {
  const tried = await trySockets(sockets)
  if (tried.found !== undefined) return tried.found
  const { silent } = tried
  if (silent.length === 0)
    throw fail('container-engine-missing', { sockets: sockets.join(', ') || 'DOCKER_HOST, which names no unix socket' })
  throw fail('container-engine-unreachable', {
    socket: silent.map(({ socket }) => socket).join(', '),
    problem: [...new Set(silent.map(({ problem }) => problem))].join('; '),
  })
}

/** Only connects to sockets that exist. It starts no process. */
export const trySockets = async (
  sockets: readonly string[],
): Promise<{ readonly found: FoundEngine | undefined; readonly silent: readonly SilentSocket[] }> => {
  const silent: SilentSocket[] = []
  for (const socket of sockets) {
    const owner = ownerOf(socket)
    if (owner === undefined) continue
    if (!isTrusted(owner)) {
      silent.push({ socket, problem: `it belongs to the user ${owner}, who is neither root nor you` })
      continue
    }
    try {
      return { found: await engineAt(socket), silent }
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      silent.push({ socket, problem: String(error.params['problem'] ?? error.message) })
      // A stopped engine leaves its socket behind. One that refuses, or is slow, is there. The next one may be that of
      // root, with other images: nobody chose it.
      if (!isUnconnected(error)) break
    }
  }
  return { found: undefined, silent }
}

const engineAt = async (socket: string): Promise<FoundEngine> => {
  const version = fieldsOf((await expectEngine({ socket, method: 'GET', path: '/version' })).value)
  const facts = fieldsOf((await expectEngine({ socket, method: 'GET', path: '/info' })).value)
  // Podman says it in a field of its own, Docker among these options.
  const isRootless =
    facts['Rootless'] === true || listOf(facts['SecurityOptions']).some((each) => String(each).includes('rootless'))
  const isPodman = listOf(version['Components']).some((each) => fieldsOf(each)['Name'] === 'Podman Engine')
  const canLimit = await limitsOf(socket, isPodman && isRootless)
  return {
    socket,
    name: isPodman ? 'podman' : 'docker',
    version: typeof version['Version'] === 'string' ? version['Version'] : 'of unknown version',
    isRootless,
    limitsMemory: facts['MemoryLimit'] === true && canLimit('memory'),
    limitsProcesses: facts['PidsLimit'] === true && canLimit('pids'),
  }
}

const isUnconnected = ({ cause }: CordonError): boolean =>
  cause instanceof Error && 'syscall' in cause && cause.syscall === 'connect'

/** A rootless Podman takes limits, and ignores those whose controller its user was not given. */
const limitsOf = async (socket: string, isRootlessPodman: boolean): Promise<(controller: string) => boolean> => {
  if (!isRootlessPodman) return () => true
  const { value } = await expectEngine({ socket, method: 'GET', path: '/libpod/info' })
  const controllers = listOf(fieldsOf(fieldsOf(value)['host'])['cgroupControllers'])
  return (controller) => controllers.includes(controller)
}

/** Undefined if there is no socket. */
const ownerOf = (path: string): number | undefined => {
  const status = linkStatusAt(path)
  return status?.isSocket() === true ? status.uid : undefined
}

/** An engine of somebody else could say anything, and would get what the tools of this user get. */
const isTrusted = (owner: number): boolean => owner === 0 || owner === process.getuid?.()
