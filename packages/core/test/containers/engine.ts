// A container engine of the tests: a service on a socket of its own, with its own storage, and images that are made of
// programs of this host. Nothing is downloaded. It is Podman, or Docker in `npm run test:docker`.
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ExecFileSyncOptionsWithStringEncoding } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll } from 'vitest'
import type { TestContext } from 'vitest'

import { processesWith } from '../attacks/survivors.js'
import { childrenOf } from '../conformance/native.js'
import { needs } from '../../../../test/requirement.js'

export interface TestEngine {
  readonly socket: string
  /** Imports a root folder, and returns the digest of the image. */
  readonly image: (root: string, changes?: readonly string[]) => string
  /** The command line of the engine. */
  readonly command: (...words: readonly string[]) => string
  /** The same for what takes minutes: vitest hears nothing from a process that waits for another. */
  readonly longCommand: (...words: readonly string[]) => Promise<string>
  /** All containers that exist, running or not. */
  readonly containers: () => readonly string[]
  /** Containers, their folders, and the processes that the engine keeps beside each. */
  readonly left: () => readonly unknown[]
  /** The first processes of its containers, by their numbers here. */
  readonly processes: () => readonly number[]
  readonly folder: string
}

// Podman would raise them, which not every host permits.
const SETTINGS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
// crun refuses a host that mounts the second version of cgroups beside the first. Root removes it in a namespace.
const SECOND_CGROUPS = '/sys/fs/cgroup/unified'
const ONE_VERSION_OF_CGROUPS = `if [ -d ${SECOND_CGROUPS} ]; then umount ${SECOND_CGROUPS} || exit 1; fi; exec "$@"`

/** What a command says of its progress is not shown. An error contains it. */
const QUIETLY: ExecFileSyncOptionsWithStringEncoding = { stdio: 'pipe', encoding: 'utf8', maxBuffer: 1 << 26 }

const IS_ROOT = process.getuid?.() === 0

/** Root has an engine of the system, another user a rootless one. `npm test` tries that of its user. */
export const ENGINE_KIND = IS_ROOT ? 'rootful' : 'rootless'

/** Docker mounts later than Podman, and has neither its settings nor its annotations. */
export const IS_PODMAN = process.env['CORDON_TEST_DOCKER'] === undefined

/** Why there can be no such engine here. */
export const engineProblem = (): string | undefined => {
  if (!IS_PODMAN) return IS_ROOT ? undefined : 'Docker is tried as root'
  if (spawnSync('podman', ['--version']).error !== undefined) return 'podman is not installed'
  if (IS_ROOT) return undefined
  if (spawnSync('newuidmap').error !== undefined) return 'newuidmap is not installed'
  const { username } = userInfo()
  const hasMore = readFileSync('/etc/subuid', 'utf8').includes(`${username}:`)
  return hasMore ? undefined : `${username} has no further users in /etc/subuid`
}

/** Skips the test, or fails it in CI, where no engine runs. */
export const requireEngine = (
  context: TestContext,
  engine: TestEngine | undefined,
  problem: string | undefined,
): TestEngine => {
  needs(context, engine !== undefined, problem ?? '')
  if (engine === undefined) throw new Error('no engine')
  return engine
}

/** `settings`: lines of containers.conf for its section about containers. */
export const startEngine = async (settings = ''): Promise<TestEngine> => {
  const folder = mkdtempSync('/var/tmp/cordon-engine-')
  return IS_PODMAN ? startPodman(folder, settings) : startDocker(folder)
}

const startPodman = async (folder: string, settings: string): Promise<TestEngine> => {
  const inside = (name: string): string => join(folder, name)
  for (const name of ['home', 'run/podman', 'storage', 'state']) mkdirSync(inside(name), { recursive: true })
  writeFileSync(inside('containers.conf'), `${SETTINGS}${settings}`)
  const socket = inside('run/podman/podman.sock')
  const environment = {
    PATH: process.env['PATH'],
    HOME: inside('home'),
    XDG_RUNTIME_DIR: inside('run'),
    CONTAINERS_CONF: inside('containers.conf'),
  }
  const words = [
    '--log-level=error',
    `--root=${inside('storage')}`,
    `--runroot=${inside('state')}`,
    '--storage-driver=overlay',
    '--cgroup-manager=cgroupfs',
  ]
  const [program, ...before] = IS_ROOT
    ? ['unshare', '--mount', '/bin/sh', '-c', ONE_VERSION_OF_CGROUPS, 'sh', 'podman', ...words]
    : ['podman', ...words]
  const commands = commandsOf(program, before, environment)
  const podman = commands.command
  // All rootless commands share one mount namespace.
  if (!IS_ROOT && existsSync(SECOND_CGROUPS)) podman('unshare', 'mount', '-t', 'tmpfs', 'none', SECOND_CGROUPS)
  const service = spawn(program, [...before, 'system', 'service', '--time=0', `unix://${socket}`], {
    stdio: 'ignore',
    env: environment,
    // Monitors leave a file where they run.
    cwd: folder,
  })
  afterAll(() => {
    service.kill()
    podman('rm', '--all', '--force', '--time=0')
    if (IS_ROOT) spawnSync('umount', ['--lazy', inside('storage/overlay')])
    else {
      // Its files belong to users of a user namespace. The last command ends the process that holds this one.
      podman('unshare', 'sh', '-c', 'umount --lazy "$1/overlay"; rm -rf "$1"', 'sh', inside('storage'))
      podman('system', 'migrate')
    }
    rmSync(folder, { recursive: true, force: true })
  })
  await untilAnswers(socket)
  const folders = () => readdirSync(inside('storage/overlay-containers')).filter((name) => /^[0-9a-f]{64}$/.test(name))
  return engineOf({ socket, folder, ...commands, folders, monitor: 'conmon' })
}

/** Debian's, unpacked by scripts/tests/docker.mjs. Without a bridge, as no container of Cordon has a network. */
const startDocker = async (folder: string): Promise<TestEngine> => {
  const inside = (name: string): string => join(folder, name)
  const programs = process.env['CORDON_TEST_DOCKER'] ?? ''
  const environment = { PATH: `${programs}:${process.env['PATH'] ?? ''}`, HOME: folder }
  mkdirSync(inside('run'))
  const socket = inside('run/docker.sock')
  const commands = commandsOf('docker', [`--host=unix://${socket}`], environment)
  const docker = commands.command
  const service = spawn(
    'dockerd',
    [
      ...[`--host=unix://${socket}`, `--pidfile=${inside('pid')}`, '--iptables=false', '--bridge=none'],
      ...[`--data-root=${inside('storage')}`, `--exec-root=${inside('state')}`],
    ],
    { stdio: 'ignore', env: environment },
  )
  const ended = new Promise((resolve) => service.on('close', resolve))
  afterAll(async () => {
    const all = linesOf(docker('ps', '--all', '--quiet'))
    if (all.length > 0) docker('rm', '--force', ...all)
    service.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  await untilAnswers(socket)
  const folders = () => readdirSync(inside('storage/containers'))
  return engineOf({ socket, folder, ...commands, folders, monitor: 'containerd-shim' })
}

type Commands = Pick<TestEngine, 'command' | 'longCommand'>

const commandsOf = (
  program: string,
  before: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Commands => ({
  command: (...words) => execFileSync(program, [...before, ...words], { env, ...QUIETLY }).trim(),
  longCommand: async (...words) =>
    (await promisify(execFile)(program, [...before, ...words], { env, ...QUIETLY })).stdout.trim(),
})

interface Started extends Commands, Pick<TestEngine, 'socket' | 'folder'> {
  readonly folders: () => readonly string[]
  /** The program of the process that the engine keeps beside each container. */
  readonly monitor: string
}

const engineOf = ({ socket, folder, command, longCommand, folders, monitor }: Started): TestEngine => {
  const containers = () => linesOf(command('ps', '--all', '--quiet'))
  const monitors = () => processesWith(folder).filter((pid) => commandOf(pid).startsWith(monitor))
  return {
    socket,
    folder,
    command,
    longCommand,
    containers,
    left: () => [...containers(), ...folders(), ...monitors()],
    processes: () => monitors().flatMap(childrenOf),
    image: (root, changes = []) => {
      const tar = `${root}.tar`
      execFileSync('tar', ['-C', root, '-cf', tar, '.'])
      return linesOf(command('import', ...changes.map((change) => `--change=${change}`), tar)).at(-1) ?? ''
    },
  }
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${String(pid)}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}

const untilAnswers = async (socket: string): Promise<void> => {
  for (let tries = 0; tries < 600; tries += 1) {
    if (existsSync(socket) && (await answers(socket))) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the service of the engine does not answer')
}

const answers = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request({ socketPath, path: '/_ping' }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.on('error', () => {
      resolve(false)
    })
    asked.end()
  })

const FOLDERS = ['bin', 'etc', 'tmp', 'var/tmp', 'proc', 'sys', 'dev', 'run', 'root', 'home', 'volume']

/** A root with these programs of the host and their libraries. */
export const makeImageRoot = (root: string, programs: readonly string[]): string => {
  for (const name of FOLDERS) mkdirSync(join(root, name), { recursive: true })
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    copyFileSync(realpathSync(from), join(root, to))
  }
  for (const name of programs) {
    const path = name.startsWith('/') ? name : execFileSync('which', [name], { encoding: 'utf8' }).trim()
    put(path, `/bin/${basename(name)}`)
    chmodSync(join(root, 'bin', basename(name)), 0o755)
    const listed = spawnSync('ldd', [realpathSync(path)], { encoding: 'utf8' }).stdout
    for (const [, library = ''] of listed.matchAll(/(\/\S+) \(0x/g)) put(library, library)
  }
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n')
  writeFileSync(join(root, 'etc/image-file'), 'of the image\n')
  return root
}
