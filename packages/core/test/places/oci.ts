// A container as crun makes it, with settings of its own: what Docker, containerd and Kubernetes write for their
// containers. Its root is an overlay over an empty folder into which the host's programs are mounted read-only.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { REPOSITORY } from '../../../../test/repository.js'
import { lastingFolder } from '../attacks/playground.js'

import { ONE_VERSION_OF_CGROUPS, makeRoot, systemMounts } from './container-root.js'
import { CHECKOUT } from './place.js'
import type { Place } from './place.js'

export interface SeccompProfile {
  readonly defaultAction: string
  readonly defaultErrnoRet?: number
  readonly architectures: readonly string[]
  readonly syscalls: readonly {
    readonly names: readonly string[]
    readonly action: string
    readonly errnoRet?: number
    readonly args?: readonly { readonly index: number; readonly value: number; readonly op: string }[]
  }[]
}

export interface OciSettings {
  readonly user?: number
  /** Of the process, and the most it can get. Without: those that Docker gives. */
  readonly capabilities?: readonly string[]
  /** Undefined: unconfined. */
  readonly seccomp: SeccompProfile | undefined
  readonly noNewPrivileges?: boolean
  /** Whether parts of /proc and /sys are masked and read-only (default: yes). */
  readonly masks?: boolean
  readonly readOnlyRoot?: boolean
  /** What the runtime's containers show: files of pods, layers of containerd, or nothing. */
  readonly signs?: 'kubernetes' | 'containerd' | 'docker' | 'none'
  /** In a user namespace of its own, as a pod with `hostUsers: false`. */
  readonly ownUsers?: boolean
}

export const DOCKER_CAPABILITIES: readonly string[] = [
  ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SETPCAP', 'NET_BIND_SERVICE'],
  ...['NET_RAW', 'SYS_CHROOT', 'MKNOD', 'AUDIT_WRITE', 'SETFCAP'],
].map((name) => `CAP_${name}`)

/** The profile that the package ships. */
export const shippedProfile = (): SeccompProfile =>
  JSON.parse(readFileSync(join(REPOSITORY, 'deploy', 'seccomp-cordon.json'), 'utf8')) as SeccompProfile

/** The calls that the shipped profile adds to what runtimes permit. */
export const addedCalls = (): readonly string[] => shippedProfile().syscalls.at(-1)?.names ?? []

const NEW_NAMESPACES = 0x7e020000

/** The shipped profile without these of its calls. `clone` then makes no new namespaces. */
export const profileWithout = (calls: readonly string[]): SeccompProfile => {
  const profile = shippedProfile()
  return {
    ...profile,
    syscalls: [
      ...profile.syscalls
        .map((each) => ({ ...each, names: each.names.filter((name) => !calls.includes(name)) }))
        .filter(({ names }) => names.length > 0),
      {
        names: ['clone'],
        action: 'SCMP_ACT_ALLOW',
        args: [{ index: 0, value: NEW_NAMESPACES, op: 'SCMP_CMP_MASKED_EQ' }],
      },
    ],
  }
}

/** What runtimes permit by default. */
export const defaultProfile = (): SeccompProfile => profileWithout(addedCalls())

const FROM_100000 = { containerID: 0, hostID: 100_000, size: 65_536 }

let prepared: { readonly folder: string; readonly root: string } | undefined

const prepare = (): { readonly folder: string; readonly root: string } => {
  if (prepared !== undefined) return prepared
  const folder = lastingFolder()
  chmodSync(folder, 0o755)
  prepared = { folder, root: makeRoot(join(folder, 'rootfs')) }
  return prepared
}

const LAYERS = { containerd: 'io.containerd.snapshotter.v1.overlayfs', docker: 'docker/overlay2' } as const

export const ociContainer = (title: string, settings: OciSettings): Place => {
  const { folder, root } = prepare()
  const bundle = mkdtempSync(join(folder, 'bundle-'))
  chmodSync(bundle, 0o755)
  const { signs = 'none' } = settings
  const layers = join(bundle, signs === 'containerd' || signs === 'docker' ? LAYERS[signs] : 'layers')
  for (const name of ['upper', 'work']) mkdirSync(join(layers, name), { recursive: true })
  const pod = join(bundle, 'kubelet/pods/0f3e')
  mkdirSync(pod, { recursive: true })
  writeFileSync(join(pod, 'etc-hosts'), '127.0.0.1 localhost\n')
  const overlay = `lowerdir=${root},upperdir=${join(layers, 'upper')},workdir=${join(layers, 'work')}`
  const rootfs = join(bundle, 'rootfs')
  mkdirSync(rootfs)
  const owner =
    settings.ownUsers === true ? `chown -hR ${FROM_100000.hostID}:${FROM_100000.hostID} ${rootfs} || exit 1; ` : ''
  const prepareMounts = `mount -t overlay -o ${overlay} overlay ${rootfs} || exit 1; ${owner}`
  const state = join(bundle, 'state')
  return {
    title,
    enter: (argv) => {
      const hosts = signs === 'kubernetes' ? [bind(join(pod, 'etc-hosts'), '/etc/hosts')] : []
      writeFileSync(join(bundle, 'config.json'), JSON.stringify(configOf(settings, argv, hosts)))
      const id = `cordon-${String(process.pid)}-${bundle.slice(-6)}`
      return [
        ...['unshare', '--mount', '/bin/sh', '-c', prepareMounts + ONE_VERSION_OF_CGROUPS, 'sh'],
        ...['crun', '--cgroup-manager=disabled', '--root', state, 'run', '--bundle', bundle, id],
      ]
    },
  }
}

const bind = (source: string, destination: string) => ({ source, destination, type: 'bind', options: ['rbind', 'ro'] })

/** The specification that crun itself proposes, with the settings. */
const configOf = (settings: OciSettings, argv: readonly string[], more: readonly unknown[]): unknown => {
  const { folder } = prepare()
  const at = mkdtempSync(join(folder, 'spec-'))
  execFileSync('crun', ['spec', '--bundle', at], { stdio: 'ignore' })
  const proposed = JSON.parse(readFileSync(join(at, 'config.json'), 'utf8')) as {
    readonly process: object
    readonly mounts: readonly { readonly destination: string }[]
    readonly linux: {
      readonly namespaces: readonly { readonly type: string }[]
      readonly maskedPaths: unknown
      readonly readonlyPaths: unknown
    }
  }
  const { user = 0, capabilities = DOCKER_CAPABILITIES, seccomp, masks = true, ownUsers = false } = settings
  const { namespaces, maskedPaths, readonlyPaths } = proposed.linux
  const held = user === 0 ? capabilities : []
  return {
    ...proposed,
    process: {
      terminal: false,
      user: { uid: user, gid: user },
      args: argv,
      env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
      cwd: CHECKOUT,
      noNewPrivileges: settings.noNewPrivileges ?? false,
      capabilities: { bounding: capabilities, effective: held, permitted: held, inheritable: [], ambient: [] },
    },
    root: { path: 'rootfs', readonly: settings.readOnlyRoot ?? false },
    mounts: [
      ...proposed.mounts.filter(({ destination }) => !destination.startsWith('/sys')),
      bind('/sys', '/sys'),
      // Before the others: the checkout may be in one of them.
      ...['/tmp', '/var/tmp'].map((destination) => ({
        destination,
        type: 'tmpfs',
        source: 'tmpfs',
        options: ['mode=1777'],
      })),
      ...systemMounts().map((path) => bind(path, path)),
      ...more,
    ],
    linux: {
      // The host's network, in which its server is.
      namespaces: [...namespaces.filter(({ type }) => type !== 'network'), ...(ownUsers ? [{ type: 'user' }] : [])],
      ...(ownUsers ? { uidMappings: [FROM_100000], gidMappings: [FROM_100000] } : {}),
      ...(masks ? { maskedPaths, readonlyPaths } : {}),
      ...(seccomp === undefined ? {} : { seccomp }),
    },
  }
}
