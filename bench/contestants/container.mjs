// A call of a container tool, on an engine of its own: Podman's service as root, with its own storage.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { containerTool } from 'cordon'
import { findProgram } from './look-up.mjs'
import { buildRootfs } from './rootfs.mjs'
import { openContestant } from './runtime.mjs'

// Podman would raise them, which not every host permits.
const SETTINGS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
// crun refuses a host that mounts the second version of cgroups beside the first.
const ONE_VERSION_OF_CGROUPS =
  'if [ -d /sys/fs/cgroup/unified ]; then umount /sys/fs/cgroup/unified || exit 1; fi; exec "$@"'
const PATIENCE_MS = 60_000

/**
 * @param {{ scratch: string }} where
 * @returns {Promise<import('./runner.mjs').Contestant>}
 */
export async function findContainer({ scratch }) {
  if (findProgram('podman') === undefined) throw new Error('podman is not in PATH')
  if (process.getuid?.() !== 0) throw new Error('its engine is that of root')
  const engine = await startEngine(path.join(scratch, 'engine'))
  const rootfs = buildRootfs(path.join(scratch, 'image'), '/bin/true')
  execFileSync('tar', ['-C', rootfs, '-cf', `${rootfs}.tar`, '.'])
  const image = engine.podman('import', '--quiet', `${rootfs}.tar`).split('\n').at(-1) ?? ''
  return openContestant('container', 'container tool, container ready', {
    make: ({ argv }) => containerTool({ name: 'job', image, command: () => [...argv] }),
    options: { containers: { socket: engine.socket } },
    close: async () => engine.stop(),
  })
}

/** @param {string} folder */
async function startEngine(folder) {
  for (const name of ['home', 'run', 'storage', 'state']) mkdirSync(path.join(folder, name), { recursive: true })
  writeFileSync(path.join(folder, 'containers.conf'), SETTINGS)
  const socket = path.join(folder, 'api.sock')
  const env = {
    PATH: process.env['PATH'],
    HOME: path.join(folder, 'home'),
    XDG_RUNTIME_DIR: path.join(folder, 'run'),
    CONTAINERS_CONF: path.join(folder, 'containers.conf'),
  }
  const places = [`--root=${folder}/storage`, `--runroot=${folder}/state`]
  const settings = ['--log-level=error', '--storage-driver=overlay', '--cgroup-manager=cgroupfs']
  const words = ['--mount', '/bin/sh', '-c', ONE_VERSION_OF_CGROUPS, 'sh', 'podman', ...places, ...settings]
  const service = spawn('unshare', [...words, 'system', 'service', '--time=0', `unix://${socket}`], {
    stdio: 'ignore',
    env,
  })
  for (const start = performance.now(); !existsSync(socket); await sleep(50))
    if (performance.now() - start > PATIENCE_MS || service.exitCode !== null)
      throw new Error('the service of podman does not start')
  /** @param {string[]} more */
  const podman = (...more) => execFileSync('unshare', [...words, ...more], { env, encoding: 'utf8' }).trim()
  const stop = () => {
    service.kill()
    podman('rm', '--all', '--force', '--time=0')
    spawnSync('umount', ['--lazy', path.join(folder, 'storage/overlay')])
    rmSync(folder, { recursive: true, force: true })
  }
  return { socket, podman, stop }
}
