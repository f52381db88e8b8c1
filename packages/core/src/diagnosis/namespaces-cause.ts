// Why this host refuses the namespaces form of a cell. The launcher names the step and the system call that failed.
import type { HostFacts } from '../sandbox/index.js'

import { apparmorFix, describeContainer, seccompFix, setfcapFix } from './container.js'
import type { HostSettings } from './host-settings.js'

type Refusal = Extract<HostFacts['namespaces'], { readonly held: false }>

interface Cause {
  readonly because: string
  readonly fix: string
}

/** The calls that build the root of a cell, and `clone`, which makes its namespaces. */
const CALLS = [
  ...['clone', 'fsopen', 'fsconfig', 'fsmount', 'move_mount', 'open_tree', 'mount_setattr', 'pivot_root'],
  'umount2',
]

export const namespacesCause = (
  refusal: Refusal,
  launcher: string,
  isInCell: boolean,
  settings: HostSettings,
): Cause => {
  const { stage, problem } = refusal
  const { container, apparmorProfile, seccompMode, kernel } = settings
  const call = CALLS.find((name) => problem.split(/[ :]/).includes(name))
  if (settings.maxUserNamespaces === '0')
    return {
      because: 'user namespaces are switched off: user.max_user_namespaces is 0',
      fix: 'sudo sysctl -w user.max_user_namespaces=15000',
    }
  if (!settings.isRoot && settings.unprivilegedUsernsClone === '0')
    return {
      because: 'ordinary users may not create user namespaces: kernel.unprivileged_userns_clone is 0',
      fix: 'sudo sysctl -w kernel.unprivileged_userns_clone=1',
    }
  if (isInCell)
    return {
      because: 'this runs inside another sandbox that refuses new namespaces, such as a cell of Cordon',
      fix: 'nothing to do: the outer sandbox stays in force, and the landlock form works inside it',
    }
  // Since Linux 5.12, only a process with this capability can map root into a user namespace.
  if (problem.includes('/proc/self/uid_map') && settings.isRoot && !settings.hasSetfcap)
    return { because: 'root has no capability CAP_SETFCAP here', fix: setfcapFix(container) }
  if (settings.apparmorRestrictsUserns === '1' && !settings.isRoot)
    return {
      because:
        'AppArmor gives user namespaces no rights: kernel.apparmor_restrict_unprivileged_userns is 1 ' +
        '(Ubuntu 23.10 and later)',
      fix:
        `write into /etc/apparmor.d/cordon-cell: profile cordon-cell ${anyOf([launcher, ...settings.fronts])} ` +
        'flags=(unconfined) { userns, } ' +
        'and load it: sudo apparmor_parser -r /etc/apparmor.d/cordon-cell; or permit it to everybody: sudo sysctl -w ' +
        'kernel.apparmor_restrict_unprivileged_userns=0',
    }
  // AppArmor says EACCES where a seccomp profile says EPERM.
  if (call !== undefined && apparmorProfile !== undefined && problem.endsWith('Permission denied'))
    return { because: `the AppArmor profile ${apparmorProfile} refuses ${call}`, fix: apparmorFix(container) }
  if (olderThan(kernel, 5, 12))
    return { because: `Linux ${kernel} lacks the mount calls that the cell needs (5.12)`, fix: 'use a newer kernel' }
  if (seccompMode === '2' && call !== undefined)
    return container === undefined
      ? {
          because: `a seccomp filter around this process refuses ${call}`,
          fix: 'start it outside of that filter: the landlock form works inside it',
        }
      : {
          because: `the seccomp profile of this ${describeContainer(container)} refuses ${call}`,
          fix: seccompFix(container),
        }
  if (stage === 'proc' || stage === 'root')
    return {
      because: `the kernel refused ${call ?? 'a mount'} while the cell built its root`,
      fix: 'look for mounts that are locked, such as a read-only /proc: cat /proc/self/mountinfo',
    }
  const modules = settings.securityModules?.join(',') ?? 'unknown'
  return {
    because: `the kernel refused ${call ?? stage}, and no setting that Cordon knows is the reason`,
    fix: `look for a refusal in the kernel's log (journalctl -k); the active security modules are: ${modules}`,
  }
}

export const olderThan = (release: string, major: number, minor: number): boolean => {
  const [have = 0, haveMinor = 0] = release.split('.').map((part) => Number.parseInt(part, 10))
  return Number.isFinite(have) && (have < major || (have === major && haveMinor < minor))
}

/** Paths, as AppArmor writes alternatives. */
const anyOf = (paths: readonly string[]): string => (paths.length === 1 ? paths.join() : `{${paths.join(',')}}`)
