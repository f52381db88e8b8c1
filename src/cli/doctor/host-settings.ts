// Settings of the host that explain why a mechanism is missing.
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Undefined: the host does not have the setting. */
export interface HostSettings {
  readonly kernel: string
  readonly isRoot: boolean
  readonly apparmorRestrictsUserns: string | undefined
  readonly maxUserNamespaces: string | undefined
  readonly unprivilegedUsernsClone: string | undefined
  readonly securityModules: readonly string[] | undefined
  readonly seccompMode: string | undefined
  readonly noNewPrivileges: boolean
  readonly container: string | undefined
  /** Paths in /proc with another mount over them. */
  readonly maskedProc: readonly string[]
  readonly hasCompiler: boolean
}

export const readHostSettings = (searchPath: string): HostSettings => {
  const status = read('/proc/self/status') ?? ''
  const field = (name: string): string | undefined => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1]
  return {
    kernel: read('/proc/sys/kernel/osrelease') ?? 'unknown',
    isRoot: process.geteuid?.() === 0,
    apparmorRestrictsUserns: read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    maxUserNamespaces: read('/proc/sys/user/max_user_namespaces'),
    unprivilegedUsernsClone: read('/proc/sys/kernel/unprivileged_userns_clone'),
    securityModules: read('/sys/kernel/security/lsm')?.split(','),
    seccompMode: field('Seccomp'),
    noNewPrivileges: field('NoNewPrivs') === '1',
    container: containerKind(),
    maskedProc: maskedIn(read('/proc/self/mountinfo') ?? ''),
    hasCompiler: ['cc', 'gcc', 'clang'].some((name) => isInPath(name, searchPath)),
  }
}

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

const containerKind = (): string | undefined => {
  if (existsSync('/run/.containerenv')) return 'podman'
  if (existsSync('/.dockerenv')) return 'docker'
  return /\b(docker|kubepods|lxc|containerd)\b/.exec(read('/proc/1/cgroup') ?? '')?.[1]
}

const maskedIn = (mountinfo: string): readonly string[] =>
  mountinfo
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .filter((place) => place.startsWith('/proc/'))

const isInPath = (name: string, searchPath: string): boolean =>
  searchPath.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
