// Settings of the host that explain why a mechanism is missing.
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'

import { reasonOf } from '../errors/index.js'
import { PACKAGE_FOLDER, frontsIn, readLink, textOfFile } from '../platform/index.js'
import { lookUp, mountsIn } from '../sandbox/index.js'

import { containerOf, isInFirstNamespaces } from './container.js'
import type { Container, Variables } from './container.js'

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
  readonly container: Container | undefined
  /** Undefined: none confines this process. */
  readonly apparmorProfile: string | undefined
  /** Whether this process has CAP_SETFCAP. */
  readonly hasSetfcap: boolean
  /** Paths in /proc with another mount over them. */
  readonly maskedProc: readonly string[]
  readonly hasCompiler: boolean
  /** Native programs of this installation, which are launchers too. */
  readonly fronts: readonly string[]
  readonly temporaryFolder: string
  /** Why no folder can be made there. Undefined: one was made. */
  readonly temporaryProblem: string | undefined
}

const SETFCAP = 31n

export const readHostSettings = (environment: Variables): HostSettings => {
  const { PATH: searchPath = '' } = environment
  const mounts = read('/proc/self/mountinfo') ?? ''
  const status = read('/proc/self/status') ?? ''
  const field = (name: string): string | undefined => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1]
  return {
    kernel: release(),
    isRoot: process.geteuid?.() === 0,
    apparmorRestrictsUserns: read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    maxUserNamespaces: read('/proc/sys/user/max_user_namespaces'),
    unprivilegedUsernsClone: read('/proc/sys/kernel/unprivileged_userns_clone'),
    securityModules: read('/sys/kernel/security/lsm')?.split(','),
    seccompMode: field('Seccomp'),
    noNewPrivileges: field('NoNewPrivs') === '1',
    container: containerOf({
      isInFirstNamespaces: isInFirstNamespaces((name) => readLink(`/proc/self/ns/${name}`)),
      hasFile: existsSync,
      mounts,
      cgroup: read('/proc/1/cgroup') ?? '',
      variables: environment,
    }),
    apparmorProfile: confinedBy(read('/proc/self/attr/apparmor/current') ?? ''),
    hasSetfcap: ((BigInt(`0x${field('CapEff') ?? '0'}`) >> SETFCAP) & 1n) === 1n,
    maskedProc: mountsIn(mounts).flatMap(({ point }) => (point.startsWith('/proc/') ? [point] : [])),
    fronts: frontsIn(PACKAGE_FOLDER).flatMap(({ isMoved, program }) => (isMoved ? [] : [program])),
    hasCompiler: ['cc', 'gcc', 'clang'].some((name) => lookUp(name, searchPath) !== undefined),
    temporaryFolder: tmpdir(),
    temporaryProblem: problemOfTemporary(tmpdir()),
  }
}

const problemOfTemporary = (folder: string): string | undefined => {
  try {
    rmdirSync(mkdtempSync(join(folder, 'cordon-doctor-')))
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

const read = (path: string): string | undefined => textOfFile(path, 'latin1')?.trim()

/** `docker-default (enforce)` */
const confinedBy = (label: string): string | undefined => {
  const [name = ''] = label.split(' ')
  return name === '' || name === 'unconfined' ? undefined : name
}
