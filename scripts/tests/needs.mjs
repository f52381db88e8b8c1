// What the tests use and a fresh machine may lack: how to find out whether it works, and the Debian packages that bring
// it. A program that is there need not work: a clang may lack the runtime of its sanitizers.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

import { findServerPrograms } from '../postgres-server.mjs'

const ends = (program, words, input = '') =>
  spawnSync(program, words, { input, stdio: ['pipe', 'ignore', 'ignore'], timeout: 120_000, cwd: '/' }).status === 0

const starts =
  (program, ...words) =>
  () =>
    ends(program, words)

const EMPTY_PROGRAM = '#include <stdio.h>\nint main(void) { return 0; }\n'
const FUZZ_TARGET =
  'int LLVMFuzzerTestOneInput(const unsigned char *bytes, unsigned long size) { return !bytes && size; }\n'

const compiles =
  (compiler, flags, source = EMPTY_PROGRAM) =>
  () =>
    ends(compiler, [...flags, '-x', 'c', '-o', '/dev/null', '-'], source)

/** Without package lists apt finds no package, in a cell too. */
const hasPackageLists = () => {
  try {
    return readdirSync('/var/lib/apt/lists').some((name) => /_Packages(?:\.\w+)?$/.test(name))
  } catch {
    return false
  }
}

const CROSS_COMPILER = {
  x64: { name: 'aarch64-linux-gnu-gcc', packages: ['gcc-aarch64-linux-gnu', 'libc6-dev-arm64-cross'] },
  arm64: { name: 'x86_64-linux-gnu-gcc', packages: ['gcc-x86-64-linux-gnu', 'libc6-dev-amd64-cross'] },
}[process.arch]

const EMULATORS = [
  { name: 'qemu-system-x86_64', packages: ['qemu-system-x86'] },
  { name: 'qemu-system-aarch64', packages: ['qemu-system-arm'], only: 'arm64' },
]

/** For `npm test` and for the matrix. */
export const NEEDS = [
  { name: 'package lists', packages: [], because: 'apt is tried in a cell', works: hasPackageLists },
  {
    name: 'cc',
    packages: ['gcc', 'libc6-dev'],
    because: 'the launcher and the attack programs are compiled',
    works: compiles('cc', ['-static-pie']),
  },
  {
    ...CROSS_COMPILER,
    because: 'the launcher is compiled for both processors',
    works: compiles(CROSS_COMPILER.name, []),
  },
  {
    name: 'wasm-ld',
    packages: ['clang', 'lld', 'wasi-libc', 'libclang-rt-dev-wasm32'],
    because: 'WASI programs are compiled',
    works: compiles('clang', ['--target=wasm32-wasi', '--sysroot=/usr']),
  },
  {
    name: 'clang-format',
    packages: ['clang-format'],
    because: 'the layout of native/ is checked',
    works: starts('clang-format', '--version'),
  },
  {
    name: 'python3',
    packages: ['python3'],
    because: 'some attacks are Python programs',
    works: starts('python3', '-c', ''),
  },
  { name: 'git', packages: ['git'], because: 'some attacks are about git hooks', works: starts('git', '--version') },
  {
    name: 'bwrap',
    packages: ['bubblewrap'],
    because: 'hosts that refuse something are imitated with it',
    works: starts('bwrap', '--ro-bind', '/', '/', 'true'),
  },
  {
    name: 'firejail',
    packages: ['firejail'],
    because: 'cells are tried inside it',
    works: starts('firejail', '--version'),
  },
  {
    name: 'podman',
    packages: ['podman', 'crun', 'uidmap', 'slirp4netns', 'fuse-overlayfs'],
    because: 'cells are tried inside a container',
    works: () => ends('podman', ['info']) && ends('crun', ['--version']) && ends('fuse-overlayfs', ['--version']),
  },
  {
    name: 'apparmor_parser',
    packages: ['apparmor'],
    because: 'the profile of deploy/ is held against AppArmor',
    works: starts('apparmor_parser', '--version'),
  },
  {
    name: 'gnome-keyring-daemon',
    packages: ['dbus-daemon', 'gnome-keyring', 'libsecret-tools'],
    because: 'credentials are read from a real keyring',
    works: () =>
      ends('dbus-run-session', ['--', 'gnome-keyring-daemon', '--version']) &&
      ends('sh', ['-c', 'command -v secret-tool']),
  },
  {
    name: 'postgres',
    packages: ['postgresql'],
    because: 'the store is tried on a PostgreSQL server of the tests',
    works: () => findServerPrograms() !== undefined && ends('id', ['-u', 'postgres']),
  },
  {
    name: 'faketime',
    packages: ['faketime', 'libfaketime'],
    because: 'hosts get clocks that are wrong',
    works: starts('faketime', '-f', '+1d', 'true'),
  },
  {
    name: 'systemd-analyze',
    packages: ['systemd'],
    because: 'units of deploy/ are held against systemd itself',
    works: starts('systemd-analyze', '--version'),
  },
  { name: 'ip', packages: ['iproute2'], because: 'hosts get networks of their own', works: starts('ip', '-V') },
]

/** For the matrix alone. */
export const NEEDS_OF_THE_MATRIX = [
  {
    name: 'clang with its runtime',
    packages: ['clang', 'libclang-rt-dev'],
    because: 'the fuzz targets are built with libFuzzer',
    works: compiles('clang', ['-fsanitize=fuzzer,address,undefined'], FUZZ_TARGET),
  },
  ...EMULATORS.filter(({ only }) => only === undefined || only === process.arch).map(({ name, packages }) => ({
    name,
    packages,
    because: 'Debian kernels and cgroups are tried in virtual machines',
    works: starts(name, '--version'),
  })),
  {
    name: 'mmdebstrap',
    packages: ['mmdebstrap'],
    because: 'the image of deploy/ is built on a Debian of the tests',
    works: starts('mmdebstrap', '--version'),
  },
  {
    name: 'fish and zsh',
    packages: ['fish', 'zsh'],
    because: 'scripts of cordon completion are read by these shells',
    works: () => ends('fish', ['--version']) && ends('zsh', ['--version']),
  },
  {
    name: 'mke2fs',
    packages: ['e2fsprogs'],
    because: 'the disk of a virtual machine is made with it',
    works: starts('mke2fs', '-V'),
  },
]
