// A container engine of the tests: Podman's service on a socket of its own, with its own storage, and images that are
// made of programs of this host. Nothing is downloaded.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { basename, dirname, join } from 'node:path'

import { afterAll } from 'vitest'

export interface TestEngine {
  readonly socket: string
  /** Imports a root folder, and returns the digest of the image. */
  readonly image: (root: string, changes?: readonly string[]) => string
  readonly podman: (...words: readonly string[]) => string
  /** All containers that exist, running or not. */
  readonly containers: () => readonly string[]
  readonly folder: string
}

// Podman would raise them, which not every host permits.
const SETTINGS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
// crun refuses a host that mounts the second version of cgroups beside the first.
const ONE_VERSION_OF_CGROUPS =
  'if [ -d /sys/fs/cgroup/unified ]; then umount /sys/fs/cgroup/unified || exit 1; fi; exec "$@"'

/** Why there can be no such engine here. */
export const engineProblem = (): string | undefined => {
  if (spawnSync('podman', ['--version']).error !== undefined) return 'podman is not installed'
  return process.getuid?.() === 0 ? undefined : 'the engine of these tests is that of root'
}

export const startEngine = async (): Promise<TestEngine> => {
  const folder = mkdtempSync('/var/tmp/cordon-engine-')
  const inside = (name: string): string => join(folder, name)
  for (const name of ['home', 'run', 'storage', 'state']) mkdirSync(inside(name))
  writeFileSync(inside('containers.conf'), SETTINGS)
  const socket = inside('api.sock')
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
  const privately = ['--mount', '/bin/sh', '-c', ONE_VERSION_OF_CGROUPS, 'sh', 'podman', ...words]
  const service = spawn('unshare', [...privately, 'system', 'service', '--time=0', `unix://${socket}`], {
    stdio: 'ignore',
    env: environment,
  })
  const podman = (...more: readonly string[]): string =>
    execFileSync('unshare', [...privately, ...more], { env: environment, encoding: 'utf8', maxBuffer: 1 << 26 }).trim()
  afterAll(() => {
    service.kill()
    podman('rm', '--all', '--force', '--time=0')
    spawnSync('umount', ['--lazy', join(inside('storage'), 'overlay')])
    rmSync(folder, { recursive: true, force: true })
  })
  await untilAnswers(socket)
  return {
    socket,
    folder,
    podman,
    image: (root, changes = []) => {
      const tar = `${root}.tar`
      execFileSync('tar', ['-C', root, '-cf', tar, '.'])
      const made = podman('import', '--quiet', ...changes.map((change) => `--change=${change}`), tar)
      return made.split('\n').at(-1)?.trim() ?? ''
    },
    containers: () =>
      podman('ps', '--all', '--quiet')
        .split('\n')
        .filter((line) => line !== ''),
  }
}

const untilAnswers = async (socket: string): Promise<void> => {
  for (let tries = 0; tries < 600; tries += 1) {
    if (existsSync(socket) && (await answers(socket))) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the service of podman does not answer')
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
