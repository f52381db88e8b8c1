import { existsSync, readFileSync, realpathSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { REPOSITORY } from '../../../../test/repository.js'
import { containerOf, isInFirstNamespaces } from '../../src/diagnosis/container.js'
import type { ContainerSigns } from '../../src/diagnosis/container.js'
import { diagnose } from '../../src/diagnosis/diagnose.js'
import type { ProbedHost } from '../../src/diagnosis/diagnose.js'
import type { Diagnosis } from './printed.js'
import type { HostSettings } from '../../src/diagnosis/host-settings.js'
import type { AbsolutePath } from '../../src/policy/index.js'

import { needs } from '../../../../test/requirement.js'
import { CORDON, cordon } from './cordon.js'

describe('cordon doctor', () => {
  test('prints as JSON what enforces each boundary, in each form', () => {
    const { status, stdout, stderr } = cordon(['doctor', '--json'])
    const diagnosis = JSON.parse(stdout) as Diagnosis
    expect(stderr).toBe('')
    expect(status).toBe(diagnosis.holds ? 0 : 1)
    expect(diagnosis.host.kernel).toBe(readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim())
    expect(diagnosis).toMatchObject({
      holds: true,
      backend: 'native',
      form: expect.stringMatching(/^(namespaces|landlock)$/) as string,
    })
    const { landlock, namespaces } = diagnosis.forms ?? {}
    expect(landlock?.enforced).toMatchObject({
      filesystem_read: [expect.stringMatching(/^landlock:\d+$/) as string],
      syscalls: ['seccomp'],
      file_names: [],
    })
    // What `cordon why` names of a run without --processes is in the table too.
    const usual = JSON.parse(
      cordon(['run', '--json', '--form', 'landlock', '--', 'true']).stderr.trim().split('\n').at(-1) ?? '',
    ) as { sandbox_profile: { enforced: Readonly<Record<string, readonly string[]>> } }
    expect(landlock?.enforced?.['limits.processes.default']).toEqual(usual.sandbox_profile.enforced['limits.processes'])
    if (namespaces?.held === true)
      expect(namespaces.enforced).toMatchObject({
        file_names: ['mount-namespace'],
        network: expect.arrayContaining(['network-namespace']) as string[],
      })
  })

  test('prints a table for people, which names what cannot be enforced', () => {
    const { status, stdout } = cordon(['doctor'])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^Linux /)
    expect(stdout).toMatch(/^backend: native, form: (namespaces|landlock)$/m)
    expect(stdout).toMatch(/^ {2}reading files .*landlock:\d/m)
    expect(stdout).toMatch(/^ {2}hiding file names .*not enforced$/m)
    expect(stdout).not.toContain('\u001b')
  })

  test('says which container engine answers, or how to start one, and starts none itself', () => {
    const variables = { DOCKER_HOST: 'unix:///nowhere/engine.sock' }
    const { engine } = JSON.parse(cordon(['doctor', '--json'], { environment: variables }).stdout) as Diagnosis
    expect(engine).toEqual({
      found: null,
      silent: [],
      fix: 'start the engine of DOCKER_HOST=unix:///nowhere/engine.sock, or unset DOCKER_HOST',
    })
    expect(cordon(['doctor'], { environment: variables }).stdout).toMatch(
      /^Container engine \(containerTool, --backend container\):\n {2}none was found; to start one: start the engine of DOCKER_HOST=/m,
    )
  })

  test('inside a cell says so, and that the landlock form works there', () => {
    const root = `${REPOSITORY}/`
    const { stdout } = cordon(
      [
        'run',
        '--read',
        root,
        '--read',
        realpathSync(`${root}node_modules`),
        '--read',
        process.execPath,
        '--',
        process.execPath,
        CORDON,
        'doctor',
        '--json',
      ],
      { cwd: '/' },
    )
    const diagnosis = JSON.parse(stdout) as Diagnosis
    expect(diagnosis).toMatchObject({ holds: true, form: 'landlock' })
    expect(diagnosis.findings.map(({ because }) => because).join('\n')).toContain('inside another')
    // Nothing makes namespaces there: what it says of a wall is what it found when it started that wall.
    expect(diagnosis.walls.map(({ backend, held }) => [backend, held])).toEqual([
      ['bubblewrap', false],
      ['firejail', false],
    ])
  })

  test('says that a wall starts where it does', (context) => {
    needs(context, existsSync('/usr/bin/bwrap'), 'bubblewrap is not installed')
    const { walls } = JSON.parse(cordon(['doctor', '--json']).stdout) as Diagnosis
    expect(walls.find(({ backend }) => backend === 'bubblewrap')).toMatchObject({ held: true, problem: null })
  })

  test('finds a temporary folder in which nothing can be made, and the error of a call names it too', () => {
    const environment = { TMPDIR: '/proc' }
    const { stdout } = cordon(['doctor', '--json'], { environment })
    const problems = (JSON.parse(stdout) as Diagnosis).findings.filter(({ what }) => what.includes('temporary folder'))
    expect(problems).toEqual([
      {
        what: expect.stringContaining('landlock form') as string,
        because: expect.stringContaining('no folder can be made in /proc') as string,
        fix: expect.stringContaining('set TMPDIR') as string,
      },
    ])
    const call = cordon(['run', '--form', 'landlock', '--', 'true'], { environment })
    expect(call).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/stage scratch: .*\nfix: set TMPDIR/) as string,
    })
    expect(cordon(['run', '--form', 'landlock', '--', 'true']).status).toBe(0)
  })
})

describe('the causes that it names', () => {
  const held = { held: true } as const
  const refused = (stage: string, problem: string) => ({ held: false, stage, problem }) as const
  const host: ProbedHost = {
    launcher: '/opt/cordon/build/cordon-cell',
    namespaces: held,
    ownProc: held,
    landlock: { ...held, abi: 7 },
    mounts: held,
    listener: held,
    cgroup: { ...held, parent: '/sys/fs/cgroup/mine' as AbsolutePath },
  }
  const settings: HostSettings = {
    kernel: '6.12.1',
    isRoot: false,
    apparmorRestrictsUserns: undefined,
    maxUserNamespaces: '15000',
    unprivilegedUsernsClone: undefined,
    securityModules: ['lockdown', 'capability', 'landlock', 'yama'],
    seccompMode: '0',
    noNewPrivileges: false,
    container: undefined,
    apparmorProfile: undefined,
    hasSetfcap: false,
    maskedProc: [],
    hasCompiler: true,
    fronts: [],
    temporaryFolder: '/tmp',
    temporaryProblem: undefined,
  }
  const withoutNamespaces = {
    ...host,
    namespaces: refused('user-namespace', 'clone: Operation not permitted'),
    ownProc: refused('user-namespace', 'clone: Operation not permitted'),
  }
  const withoutLandlock = { ...host, landlock: { ...refused('landlock', 'the kernel has no Landlock'), abi: 0 } }

  test('none if everything works', () => {
    expect(diagnose(host, settings)).toEqual([])
  })

  test.each<readonly [string, ProbedHost, Partial<HostSettings>, string, string]>([
    [
      "Ubuntu's AppArmor setting",
      withoutNamespaces,
      { apparmorRestrictsUserns: '1' },
      'apparmor_restrict_unprivileged_userns is 1',
      'profile cordon-cell /opt/cordon/build/cordon-cell flags=(unconfined) { userns, }',
    ],
    [
      "Ubuntu's AppArmor setting, with a native cordon, which is a launcher too",
      withoutNamespaces,
      { apparmorRestrictsUserns: '1', fronts: ['/opt/cordon/bin/cordon'] },
      'apparmor_restrict_unprivileged_userns is 1',
      'profile cordon-cell {/opt/cordon/build/cordon-cell,/opt/cordon/bin/cordon} flags=(unconfined) { userns, }',
    ],
    [
      'user namespaces switched off',
      withoutNamespaces,
      { maxUserNamespaces: '0' },
      'user.max_user_namespaces is 0',
      'sysctl -w user.max_user_namespaces=',
    ],
    [
      "Debian's old switch",
      withoutNamespaces,
      { unprivilegedUsernsClone: '0' },
      'kernel.unprivileged_userns_clone is 0',
      'sysctl -w kernel.unprivileged_userns_clone=1',
    ],
    [
      "a container's seccomp profile",
      withoutNamespaces,
      { seccompMode: '2', container: 'docker' },
      'the seccomp profile of this docker container refuses clone',
      'docker run --security-opt seccomp=deploy/seccomp-cordon.json',
    ],
    [
      'the seccomp profile of a restricted pod',
      withoutNamespaces,
      { seccompMode: '2', noNewPrivileges: true, container: 'kubernetes' },
      'the seccomp profile of this pod refuses clone',
      'seccompProfile: { type: Localhost, localhostProfile: seccomp-cordon.json }',
    ],
    [
      'root without CAP_SETFCAP, also under a seccomp profile',
      { ...host, namespaces: refused('user-namespace', '/proc/self/uid_map: Operation not permitted') },
      { isRoot: true, seccompMode: '2', container: 'kubernetes' },
      'root has no capability CAP_SETFCAP here',
      'runAsUser: 1000',
    ],
    [
      'the AppArmor profile of a container',
      { ...host, namespaces: refused('mount-namespace', 'move_mount of the new root: Permission denied') },
      { seccompMode: '2', container: 'docker', apparmorProfile: 'docker-default' },
      'the AppArmor profile docker-default refuses move_mount',
      'docker run --security-opt apparmor=cordon',
    ],
    [
      'nothing that Cordon knows',
      { ...host, namespaces: refused('mount-namespace', 'fsopen of a tmpfs: Permission denied') },
      {},
      'the kernel refused fsopen',
      'journalctl -k',
    ],
    [
      'another sandbox',
      withoutNamespaces,
      { seccompMode: '2', noNewPrivileges: true },
      'inside another sandbox',
      'landlock form works inside it',
    ],
    [
      'an old kernel',
      withoutNamespaces,
      { kernel: '5.10.0-28-amd64' },
      'Linux 5.10.0-28-amd64 lacks the mount calls',
      'newer kernel',
    ],
    [
      'a masked /proc',
      { ...host, ownProc: refused('proc', 'Operation not permitted') },
      { maskedProc: ['/proc/kcore'], container: 'podman' },
      'parts of /proc are masked here (/proc/kcore)',
      'unmask=ALL',
    ],
    [
      'Landlock not among the modules',
      withoutLandlock,
      { securityModules: ['capability', 'yama'] },
      'not among the active security modules (capability,yama)',
      'lsm=landlock,capability,yama',
    ],
    ['a kernel before Landlock', withoutLandlock, { kernel: '5.4.0' }, 'Linux 5.4.0 does not have it', 'newer kernel'],
    [
      'an early Landlock',
      { ...host, landlock: { ...held, abi: 3 } },
      { kernel: '6.2.0' },
      'Linux 6.2.0',
      'newer kernel',
    ],
    [
      'cgroups of version 1',
      { ...host, cgroup: refused('cgroup', 'no cgroup file system of version 2 is mounted') },
      {},
      'of version 2',
      'unified_cgroup_hierarchy',
    ],
    [
      'cgroups of version 1, in a container that cannot boot',
      { ...host, cgroup: refused('cgroup', 'no cgroup file system of version 2 is mounted') },
      { container: 'podman' as const },
      'of version 2',
      'nothing to do',
    ],
    [
      "a tree that is systemd's, for a user",
      { ...host, cgroup: refused('cgroup', "/user.slice is systemd's to divide") },
      {},
      'systemd',
      'systemd-run --user --scope',
    ],
    [
      "a tree that is systemd's, for root",
      { ...host, cgroup: refused('cgroup', "/system.slice is systemd's to divide") },
      { isRoot: true },
      'systemd',
      'DelegateSubgroup',
    ],
    [
      'processes in the cgroup to divide',
      { ...host, cgroup: refused('cgroup', 'Device or resource busy cgroup.subtree_control') },
      {},
      'no internal processes',
      'systemd-run',
    ],
    [
      'a listener that is taken',
      { ...host, listener: refused('seccomp-listener', 'Device or resource busy') },
      {},
      'has a listener already',
      'run outside of it',
    ],
    [
      'a temporary folder that is read-only',
      host,
      { temporaryProblem: "EROFS: read-only file system, mkdtemp '/tmp/x'" },
      'no folder can be made in /tmp (EROFS',
      'set TMPDIR',
    ],
  ])('%s', (_, facts, changed, because, fix) => {
    const findings = diagnose(facts, { ...settings, ...changed })
    expect(
      findings.some((finding) => finding.because.includes(because) && finding.fix.includes(fix)),
      JSON.stringify(findings),
    ).toBe(true)
  })

  const STAGES = ['user-namespace', 'mount-namespace', 'root', 'proc', 'pivot-root', 'loopback']
  test.each(STAGES)('a refusal in the stage %s never leaves the reader with the stage alone', (stage) => {
    const named = /AppArmor|seccomp|sandbox|CAP_|user\.max_|kernel\.\w+_|Linux \d|the kernel refused \w+/
    for (const problem of [
      'Operation not permitted',
      'clone: Permission denied',
      'fsopen of a tmpfs: Permission denied',
    ])
      for (const changed of [
        {},
        { apparmorProfile: 'docker-default' },
        { seccompMode: '2', container: 'docker' as const },
        { isRoot: true },
      ]) {
        const [finding] = diagnose({ ...host, namespaces: refused(stage, problem) }, { ...settings, ...changed })
        expect(finding?.because).toMatch(named)
        expect(finding?.fix).not.toMatch(/\bstage\b/)
      }
  })
})

describe('the container that it names', () => {
  const signs: ContainerSigns = {
    isInFirstNamespaces: false,
    hasFile: () => false,
    mounts: '',
    cgroup: '0::/',
    variables: {},
  }
  const hosts = (source: string) => `600 500 254:1 ${source} /etc/hosts rw,relatime - ext4 /dev/vda1 rw`
  const root = (type: string, options = '') => `500 400 0:50 / / rw,relatime - ${type} ${type} rw${options}`
  const layers = ',lowerdir=/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/7/fs'

  test.each<readonly [string, Partial<ContainerSigns>, string | undefined]>([
    ['a plain host', { mounts: root('ext4') }, undefined],
    ['a folder named after one', { mounts: hosts('/home/ann/docker/hosts') }, undefined],
    ['docker, by its file', { hasFile: (path) => path === '/.dockerenv' }, 'docker'],
    [
      'a virtual machine whose disk was made from an image of docker',
      { isInFirstNamespaces: true, hasFile: (path) => path === '/.dockerenv', mounts: root('ext4') },
      undefined,
    ],
    ['docker, by the source of a mount', { mounts: hosts('/var/lib/docker/containers/7a3f/hosts') }, 'docker'],
    ['podman, by its file', { hasFile: (path) => path === '/run/.containerenv' }, 'podman'],
    ['a pod, by its variable', { variables: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } }, 'kubernetes'],
    ['a pod, by the source of a mount', { mounts: hosts('/var/lib/kubelet/pods/7a3f-11/etc-hosts') }, 'kubernetes'],
    ['containerd, by its layers', { mounts: root('overlay', layers) }, 'containerd'],
    ['an unknown runtime, by its overlay', { mounts: root('overlay') }, 'unknown'],
  ])('%s', (_, given, container) => {
    expect(containerOf({ ...signs, ...given })).toBe(container)
  })

  test.each<readonly [string, Readonly<Record<string, string>>, boolean]>([
    ['the first of the kernel', {}, true],
    ['those of a container', { pid: 'pid:[4026532201]', ipc: 'ipc:[4026532200]' }, false],
    ['those of a container with the processes and the name of its host', { ipc: 'ipc:[4026532200]' }, false],
  ])('knows the namespaces of a process: %s', (_, own, isFirst) => {
    const first: Readonly<Record<string, string>> = {
      cgroup: 'cgroup:[4026531835]',
      ipc: 'ipc:[4026531839]',
      pid: 'pid:[4026531836]',
      uts: 'uts:[4026531838]',
    }
    expect(isInFirstNamespaces((name) => own[name] ?? first[name])).toBe(isFirst)
    expect(isInFirstNamespaces(() => undefined)).toBe(false)
  })
})
