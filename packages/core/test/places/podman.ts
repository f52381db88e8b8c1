// A podman container with its defaults, including seccomp profile and masks: rootless for an ordinary user. It needs
// no image: its root is an empty folder into which the host's programs are mounted read-only.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll } from 'vitest'

import { lastingFolder } from '../attacks/playground.js'

import { ONE_VERSION_OF_CGROUPS, makeRoot, systemMounts } from './container-root.js'
import { CHECKOUT, IS_ROOT } from './place.js'
import type { Place } from './place.js'

export interface ContainerOptions {
  /** Folders of the host that are in the container by the same path, writable. */
  readonly folders?: readonly string[]
  readonly user?: 'root' | 'ordinary'
  /** Default: none. */
  readonly network?: 'none' | 'host'
}

// Podman would raise them, which not every host permits.
const BELOW_THE_HOSTS_LIMITS = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024']

export const podmanContainer = (
  title: string,
  { folders = [], user = 'root', network = 'none' }: ContainerOptions = {},
): Place => {
  const { podman, rootfs } = prepare()
  const readOnly = systemMounts()
  const options = [
    '--rm',
    '--interactive',
    `--network=${network}`,
    '--cgroups=disabled',
    ...BELOW_THE_HOSTS_LIMITS,
    '--tmpfs=/tmp:rw,exec,mode=1777',
    '--tmpfs=/var/tmp:rw,exec,mode=1777',
    ...readOnly.map((path) => `--volume=${path}:${path}:ro`),
    ...folders.map((path) => `--volume=${path}:${path}`),
    ...(user === 'root' ? [] : ['--user=1000:1000']),
    `--workdir=${CHECKOUT}`,
  ]
  return {
    title,
    enter: (argv) => [...podman.privately, ...podman.command, 'run', ...options, '--rootfs', rootfs, ...argv],
  }
}

interface Podman {
  readonly command: readonly string[]
  /** What runs a command with mounts of its own. */
  readonly privately: readonly string[]
}

let prepared: { readonly podman: Podman; readonly rootfs: string } | undefined

const prepare = (): { readonly podman: Podman; readonly rootfs: string } => {
  if (prepared !== undefined) return prepared
  const folder = lastingFolder()
  chmodSync(folder, 0o755)
  const inside = (name: string): string => {
    mkdirSync(join(folder, name), { mode: 0o700 })
    return join(folder, name)
  }
  const environment = ['/usr/bin/env', `HOME=${inside('home')}`, `XDG_RUNTIME_DIR=${inside('run')}`]
  const storage = [
    '--log-level=error',
    `--root=${inside('storage')}`,
    `--runroot=${inside('state')}`,
    '--storage-driver=vfs',
  ]
  const command = [...environment, 'podman', ...storage]
  const privately = [
    ...(IS_ROOT ? [] : [...command, 'unshare']),
    'unshare',
    '--mount',
    '/bin/sh',
    '-c',
    ONE_VERSION_OF_CGROUPS,
    'sh',
  ]
  prepared = { podman: { command, privately }, rootfs: makeRoot(join(folder, 'rootfs')) }
  // Rootless, podman leaves a process that holds its user namespace.
  if (!IS_ROOT) afterAll(() => execFileSync(command[0] ?? '', [...command.slice(1), 'system', 'migrate']))
  return prepared
}
