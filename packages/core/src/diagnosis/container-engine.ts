// Which container engine answers here, and how to start one.
import { engineSockets, trySockets } from '../sandbox/index.js'
import type { SilentSocket } from '../sandbox/index.js'

import type { Variables } from './container.js'
import type { EngineDiagnosis } from './diagnosis.js'

export const examineEngine = async (environment: Variables): Promise<EngineDiagnosis> => {
  const { found, silent } = await trySockets(engineSockets(environment))
  if (found === undefined) return { found: null, silent, fix: engineFix(silent, environment) }
  const { name, version, isRootless, socket } = found
  return { found: { name, version, rootless: isRootless, socket }, silent, fix: null }
}

const ROOT = 0

/** Pure, from the sockets that exist. */
export const engineFix = (
  silent: readonly SilentSocket[],
  { DOCKER_HOST: named = '' }: Variables,
  uid: number | undefined = process.getuid?.(),
): string => {
  if (named !== '' && !named.startsWith('unix://'))
    return `export DOCKER_HOST=unix:///PATH (it is ${named}, and Cordon speaks to unix sockets only)`
  const [first] = silent
  if (named !== '' && first !== undefined && /EACCES|EPERM/.test(first.problem))
    return `unset DOCKER_HOST, and use an engine of your own (this user may not open ${first.socket})`
  if (named !== '') return `start the engine of DOCKER_HOST=${named}, or unset DOCKER_HOST`
  const podman = uid === ROOT ? 'systemctl start podman.socket' : 'systemctl --user start podman.socket'
  if (first === undefined)
    return `${podman}; without systemd: podman system service --time=0 unix:///PATH, and export DOCKER_HOST=unix:///PATH`
  if (/EACCES|EPERM/.test(first.problem)) return `${podman} (this user may not open ${first.socket})`
  if (first.socket.includes('podman')) return podman
  return uid === ROOT || first.socket.startsWith('/var/') ? 'systemctl start docker' : 'systemctl --user start docker'
}
