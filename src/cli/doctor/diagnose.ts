// Causes of what a host does not hold, and ways out: pure, from what the probes and the settings say.
import type { HostFacts } from '../../sandbox/index.js'

import type { HostSettings } from './host-settings.js'

export interface Finding {
  /** What is missing, or weaker than it could be. */
  readonly what: string
  readonly because: string
  readonly fix: string
}

/** Of the host's facts those that a cause can be found for. */
export type ProbedHost = Pick<HostFacts, 'namespaces' | 'ownProc' | 'landlock' | 'listener' | 'cgroup'>

export const diagnose = (host: ProbedHost, settings: HostSettings): readonly Finding[] => [
  ...(host.namespaces.held ? [] : [namespacesFinding(host.namespaces, isOuterCell(host, settings), settings)]),
  ...(host.namespaces.held && !host.ownProc.held ? [procFinding(host.ownProc.problem, settings)] : []),
  ...landlockFindings(host, settings),
  ...(host.listener.held || !host.landlock.held
    ? []
    : [listenerFinding(host.listener.problem, isOuterCell(host, settings))]),
  ...(host.cgroup.held ? [] : [cgroupFinding(host.cgroup.problem, isOuterCell(host, settings), settings)]),
]

const NAMESPACES = 'namespaces: hidden file names, own process list, own network'

const namespacesFinding = (
  { stage, problem }: { readonly stage: string; readonly problem: string },
  inside: boolean,
  settings: HostSettings,
): Finding => {
  const finding = (because: string, fix: string): Finding => ({
    what: NAMESPACES,
    because: `${because} (${stage}: ${problem})`,
    fix,
  })
  const { container } = settings
  if (settings.maxUserNamespaces === '0')
    return finding(
      'user namespaces are switched off: user.max_user_namespaces is 0',
      'sudo sysctl -w user.max_user_namespaces=15000',
    )
  if (!settings.isRoot && settings.unprivilegedUsernsClone === '0') {
    return finding(
      'ordinary users may not make user namespaces: kernel.unprivileged_userns_clone is 0',
      'sudo sysctl -w kernel.unprivileged_userns_clone=1',
    )
  }
  if (inside) {
    return finding(
      'this runs inside another sandbox that refuses new namespaces, such as a cell of Cordon',
      'nothing to do: the outer sandbox still holds, and the landlock form holds inside it',
    )
  }
  if (settings.apparmorRestrictsUserns === '1' && !settings.isRoot) {
    return finding(
      'AppArmor leaves user namespaces without rights: kernel.apparmor_restrict_unprivileged_userns is 1 ' +
        '(Ubuntu 23.10 and later)',
      'give the launcher a profile with "userns," in /etc/apparmor.d, or: sudo sysctl -w ' +
        'kernel.apparmor_restrict_unprivileged_userns=0',
    )
  }
  if (settings.seccompMode === '2') {
    const where =
      container === undefined
        ? 'a seccomp filter of the parent process'
        : `the seccomp profile of this ${container} container`
    return finding(
      `${where} refuses new user namespaces`,
      'start the container with a seccomp profile that permits clone with CLONE_NEWUSER and mount, or run ' +
        'Cordon outside of it',
    )
  }
  if (olderThan(settings.kernel, 5, 12))
    return finding(`Linux ${settings.kernel} lacks the mount calls that the cell needs (5.12)`, 'use a newer kernel')
  if (stage === 'proc' || stage === 'root')
    return finding(
      'the cell could not assemble its root',
      'see the stage and the error; in a container, its /proc and its mounts may be locked',
    )
  return finding('the kernel refused', 'see the stage and the error')
}

const procFinding = (problem: string, settings: HostSettings): Finding => ({
  what: "a /proc of its own: the cell borrows the host's and hides its parts by Landlock",
  because:
    settings.maskedProc.length > 0
      ? `parts of /proc are masked here (${settings.maskedProc.slice(0, 3).join(', ')}), so that the kernel ` +
        'refuses a fresh one'
      : problem,
  fix:
    settings.container === undefined
      ? 'unmount what lies over /proc'
      : 'start the container with --security-opt unmask=ALL (podman) or systempaths=unconfined (docker)',
})

const landlockFindings = (host: ProbedHost, settings: HostSettings): readonly Finding[] => {
  const { landlock } = host
  if (!landlock.held) {
    const what = 'Landlock: the second hold on files, and the only one on programs; no cell starts without it'
    if (olderThan(settings.kernel, 5, 13))
      return [{ what, because: `Linux ${settings.kernel} does not have it (5.13)`, fix: 'use a newer kernel' }]
    if (settings.securityModules?.includes('landlock') === false) {
      return [
        {
          what,
          because: `it is not among the active security modules (${settings.securityModules.join(',')})`,
          fix: `boot with lsm=landlock,${settings.securityModules.join(',')}`,
        },
      ]
    }
    if (settings.seccompMode === '2')
      return [
        {
          what,
          because: `a seccomp filter refuses its calls (${landlock.problem})`,
          fix: 'use a container runtime of 2022 or later, whose default profile permits Landlock',
        },
      ]
    return [
      {
        what,
        because: `${landlock.stage}: ${landlock.problem}`,
        fix: 'boot with landlock in the lsm= list; the kernel needs CONFIG_SECURITY_LANDLOCK',
      },
    ]
  }
  const missing = [
    ...(landlock.abi < 3 ? ['truncation (Linux 6.2)'] : []),
    ...(landlock.abi < 4 ? ['TCP ports (6.7)'] : []),
    ...(landlock.abi < 5 ? ['device commands (6.10)'] : []),
    ...(landlock.abi < 6 ? ['signals and abstract sockets (6.12)'] : []),
  ]
  if (missing.length === 0) return []
  return [
    {
      what: `Landlock of version ${String(landlock.abi)} does not hold: ${missing.join(', ')}`,
      because: `Linux ${settings.kernel}`,
      fix: 'use a newer kernel; meanwhile other mechanisms hold these where the table says so',
    },
  ]
}

const listenerFinding = (problem: string, inside: boolean): Finding => ({
  what: 'a seccomp listener: limits.processes, --observe, and which connections were refused',
  because: inside ? `this runs inside another cell, or under a tracer, that listens already (${problem})` : problem,
  fix:
    'run outside of it to have them; everything else holds without, and hosts that the outer cell grants can ' +
    'be granted here',
})

const cgroupFinding = (problem: string, inside: boolean, { isRoot, container }: HostSettings): Finding => ({
  what: 'cgroups: memory and processes bounded by the kernel itself, in the moment in which a call asks for more',
  because: /busy/i.test(problem)
    ? 'processes live in the cgroup that would have to be divided, which the kernel refuses ("no internal ' +
      `processes": ${problem})`
    : problem,
  fix: cgroupFix(problem, inside || container !== undefined, isRoot),
})

const cgroupFix = (problem: string, inside: boolean, isRoot: boolean): string => {
  if (/version/.test(problem))
    return 'boot with version 2 of cgroups (systemd.unified_cgroup_hierarchy=1); the limits are held without, by looking'
  if (inside)
    return 'nothing to do: the limits are held without, by looking; or set them on the container or the outer cell, too'
  return isRoot
    ? 'start it with a part of the tree of its own: systemd-run --pty -p Delegate=yes -p DelegateSubgroup=host ' +
        'COMMAND (systemd 254; the same two settings in a unit)'
    : 'start it where the user may divide the tree: systemd-run --user --scope COMMAND'
}

/** A listener that is taken, or no new privileges and a filter: what a cell looks like from inside. */
const isOuterCell = ({ listener }: ProbedHost, { seccompMode, noNewPrivileges, container }: HostSettings): boolean =>
  (!listener.held && /busy/i.test(listener.problem)) ||
  (seccompMode === '2' && noNewPrivileges && container === undefined)

const olderThan = (release: string, major: number, minor: number): boolean => {
  const [have = 0, haveMinor = 0] = release.split('.').map((part) => Number.parseInt(part, 10))
  return Number.isFinite(have) && (have < major || (have === major && haveMinor < minor))
}
