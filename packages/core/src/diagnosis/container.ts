// Recognises the container, and names the settings of its runtime that permit more.
import { mountsIn } from '../sandbox/index.js'

export type Variables = Readonly<Record<string, string | undefined>>

export type Container = 'docker' | 'podman' | 'kubernetes' | 'containerd' | 'lxc' | 'unknown'

export interface ContainerSigns {
  /** Whether this process is in the first namespaces of its kernel, like no process of a container. */
  readonly isInFirstNamespaces: boolean
  /** Files that some runtimes put into their containers. */
  readonly hasFile: (path: string) => boolean
  /** `/proc/self/mountinfo` */
  readonly mounts: string
  /** `/proc/1/cgroup` */
  readonly cgroup: string
  readonly variables: Variables
}

// Where runtimes keep what they mount into containers: their own configurations can move it, hence the parts.
const SOURCES: readonly (readonly [Container, RegExp])[] = [
  ['kubernetes', /\/kubelet\/pods\/|\/kubepods/],
  ['docker', /\/docker\/(?:containers|overlay2)\//],
  ['podman', /\/overlay-containers\//],
  ['containerd', /io\.containerd\./],
  ['lxc', /\/lxc\b/],
]

/** The kernel numbers its first namespaces by constants (include/linux/proc_ns.h). */
const FIRST_NAMESPACES = { cgroup: 0xeffffffb, ipc: 0xefffffff, pid: 0xeffffffc, uts: 0xeffffffe }

/** `linkOf`: what `/proc/self/ns/NAME` leads to. A container may share some of these with its host, but not all. */
export const isInFirstNamespaces = (linkOf: (name: string) => string | undefined): boolean =>
  Object.entries(FIRST_NAMESPACES).every(([name, number]) => linkOf(name) === `${name}:[${number}]`)

/**
 * Undefined: no container. containerd and Kubernetes put no file of their own into a container. The files of the others
 * are also in a virtual machine whose disk was made from an image.
 */
export const containerOf = (signs: ContainerSigns): Container | undefined => {
  const { hasFile, mounts, cgroup, variables } = signs
  if (signs.isInFirstNamespaces) return undefined
  if (variables['KUBERNETES_SERVICE_HOST'] !== undefined || hasFile('/var/run/secrets/kubernetes.io'))
    return 'kubernetes'
  if (hasFile('/run/.containerenv')) return 'podman'
  if (hasFile('/.dockerenv')) return 'docker'
  const named = SOURCES.find(([, sign]) => sign.test(mounts) || sign.test(cgroup))
  if (named !== undefined) return named[0]
  // Hosts seldom have an overlay as their root, and containers almost always.
  return mountsIn(mounts).findLast(({ point }) => point === '/')?.type === 'overlay' ? 'unknown' : undefined
}

export const describeContainer = (container: Container): string =>
  container === 'kubernetes' ? 'pod' : container === 'unknown' ? 'container' : `${container} container`

const PROFILE = 'deploy/seccomp-cordon.json'

/** For the two engines, for a pod, and for everything else. */
interface Fixes {
  readonly engine: (name: 'docker' | 'podman') => string
  readonly pod: string
  readonly other: string
}

const fixIn = (container: Container | undefined, { engine, pod, other }: Fixes): string => {
  switch (container) {
    case 'docker':
    case 'podman':
      return engine(container)
    case 'kubernetes':
    case 'containerd':
      return pod
    case 'lxc':
    case 'unknown':
    case undefined:
      return other
  }
}

export const seccompFix = (container: Container | undefined): string =>
  fixIn(container, {
    engine: (name) => `${name} run --security-opt seccomp=${PROFILE} … (the file is in the package cordon)`,
    pod:
      `copy ${PROFILE} of the package cordon to /var/lib/kubelet/seccomp/ of the node, and add to the ` +
      'securityContext: seccompProfile: { type: Localhost, localhostProfile: seccomp-cordon.json }',
    other: `start the container with the seccomp profile ${PROFILE} of the package cordon`,
  })

export const setfcapFix = (container: Container | undefined): string =>
  fixIn(container, {
    engine: (name) => `${name} run --user 1000:1000 … (or --cap-add SETFCAP)`,
    pod: 'add to the securityContext: runAsNonRoot: true, runAsUser: 1000 (or capabilities: { add: [SETFCAP] })',
    other: 'run as another user than root, or with the capability CAP_SETFCAP',
  })

const LOAD = 'sudo apparmor_parser -r deploy/apparmor-cordon'

export const apparmorFix = (container: Container | undefined): string =>
  fixIn(container, {
    engine: (name) => `${LOAD}, then: ${name} run --security-opt apparmor=cordon …`,
    pod:
      `on the node: ${LOAD}, then add to the securityContext: ` +
      'appArmorProfile: { type: Localhost, localhostProfile: cordon }',
    other: `${LOAD}, and run this under the profile: aa-exec -p cordon -- COMMAND`,
  })

// Root of a container without users of its own could write kernel settings, such as the program for core dumps.
const NEVER_AS_ROOT = 'never as root: it could then change settings of the host'
const UNMASKED = { docker: 'systempaths=unconfined', podman: 'unmask=ALL' } as const

export const unmaskFix = (container: Container | undefined): string =>
  fixIn(container, {
    engine: (name) => `${name} run --security-opt ${UNMASKED[name]} --user 1000:1000 … (${NEVER_AS_ROOT})`,
    pod:
      'in a pod with users of its own, add: hostUsers: false, and to the securityContext: procMount: Unmasked ' +
      '(the restricted standard forbids it)',
    other:
      container === undefined
        ? 'unmount everything over /proc'
        : `start the container without masks over /proc (${NEVER_AS_ROOT})`,
  })
