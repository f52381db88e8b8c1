// A guest with a kernel and programs of Debian, where the packed packages are installed. Its parts come from
// scripts/tests/guest-parts.mjs.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { CORE, REPOSITORY } from '../../../../test/repository.js'
import { partsOf } from '../../../../scripts/tests/guest-parts.mjs'
import type { Guest } from '../../../../scripts/tests/guest-parts.mjs'
import { npmIn, npmProgram, packInto } from '../../../../test/packed-package.js'

import { createArchive } from './cpio.js'
import { compileFor, obstacleToEmulator, runEmulator } from './emulator.js'
import type { Fact } from './emulator.js'

const ATTACKS = join(CORE, 'test', 'attacks', 'programs')
const INIT = fileURLToPath(new URL('guest/init.c', import.meta.url))
const SCRIPTS = fileURLToPath(new URL('kernels/', import.meta.url))

/** Why this guest cannot be started here, or undefined. */
export const obstacleToGuest = (guest: Guest): string | undefined => {
  const missing = Object.values(partsOf(guest)).find((folder) => !existsSync(folder))
  if (missing !== undefined)
    return `${missing} is missing; node scripts/tests/guest-parts.mjs --all fetches all parts, or says why not`
  if (npmProgram === undefined) return 'npm is not in the PATH'
  if (!existsSync(APPARMOR)) return `${APPARMOR} is not installed`
  return obstacleToEmulator(guest.node)
}

const APPARMOR = '/usr/sbin/apparmor_parser'
/** What the kernels of all guests know about AppArmor, at least. */
const FEATURES = '/etc/apparmor.d/abi/kernel-5.4-vanilla'

/** Like the default profiles of container runtimes, it has no rule that permits mounts. */
const REFUSES_MOUNTS =
  'profile refuses-mounts flags=(attach_disconnected) { file, network, capability, signal, ptrace, }\n'

/** Compiled here, because the guest has no parser. */
const compileProfiles = (folder: string, to: string): void => {
  const refusing = join(folder, 'refuses-mounts')
  writeFileSync(refusing, REFUSES_MOUNTS)
  mkdirSync(to)
  for (const [name, source] of Object.entries({
    'refuses-mounts': refusing,
    'cordon': join(REPOSITORY, 'deploy/apparmor-cordon'),
  })) {
    const features = ['--kernel-features', FEATURES, '--policy-features', FEATURES]
    const words = ['--skip-kernel-load', '--skip-read-cache', '--stdout', ...features, source]
    writeFileSync(join(to, name), execFileSync(APPARMOR, words))
  }
}

/** The programs that attacks/programs.ts compiles for this machine, for the guest. */
const compilePrograms = (guest: Guest, names: readonly string[], to: string): void => {
  mkdirSync(to)
  for (const name of names) compileFor(guest.node, join(ATTACKS, `${name}.c`), join(to, name))
}

/** Installs the archives that would be published, for the platform of the guest. Its scripts would run on this one. */
const installPackages = (guest: Guest, folder: string, project: string): void => {
  const path = process.env['PATH'] ?? ''
  const npm = npmIn(folder)
  execFileSync(process.execPath, ['scripts/build-native.mjs', '--target', guest.target, '--pack'], {
    cwd: CORE,
    stdio: 'ignore',
  })
  const launcher = packInto(
    npm,
    join(CORE, 'build/npm', `launcher-linux-${guest.node}`),
    join(folder, 'launcher'),
    path,
  )
  const own = packInto(npm, CORE, join(folder, 'own'), path)
  mkdirSync(project, { recursive: true })
  // npm refuses a package for another processor, except with force.
  const platform = ['--ignore-scripts', '--cpu', guest.node, ...(guest.node === process.arch ? [] : ['--force'])]
  const { status, output } = npm(['install', ...platform, own, launcher], project, path)
  if (status !== 0) throw new Error(`npm install: ${output}`)
}

const packInitialFiles = (guest: Guest, folder: string): string => {
  const archive = createArchive()
  for (const path of ['/new', '/dev']) archive.folder(path)
  archive.tree(join(partsOf(guest).kernel, 'modules'), '/modules')
  compileFor(guest.node, INIT, join(folder, 'init'))
  archive.file(join(folder, 'init'), '/init')
  const file = join(folder, 'initial.cpio')
  writeFileSync(file, archive.bytes())
  return file
}

const MOUNT_POINTS = ['dev', 'proc', 'sys', 'tmp', 'var/tmp', 'root', 'run', 'home', 'etc']

const makeDisk = (guest: Guest, programs: readonly string[], folder: string): string => {
  const root = join(folder, 'root')
  execFileSync('cp', ['-a', partsOf(guest).programs, root])
  for (const name of MOUNT_POINTS) mkdirSync(join(root, name), { recursive: true })
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n')
  compilePrograms(guest, programs, join(root, 'programs'))
  installPackages(guest, folder, join(root, 'opt/project'))
  cpSync(SCRIPTS, join(root, 'opt/project/guest'), { recursive: true })
  compileProfiles(folder, join(root, 'profiles'))
  const disk = join(folder, 'disk.img')
  execFileSync('mke2fs', ['-q', '-t', 'ext4', '-E', 'root_owner=0:0', '-d', root, disk, '768M'], {
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  })
  return disk
}

/** Starts the guest, and returns the facts that were told in it, and everything else that it printed. */
export const runGuest = (
  guest: Guest,
  programs: readonly string[],
  settings: 'try-settings' | 'no-settings',
  folder: string,
): Promise<{ readonly facts: readonly Fact[]; readonly noise: string }> =>
  runEmulator({
    architecture: guest.node,
    kernel: join(partsOf(guest).kernel, 'vmlinuz'),
    initialFiles: packInitialFiles(guest, folder),
    disk: makeDisk(guest, programs, folder),
    words: [...guest.words, settings],
    patienceMs: 1_500_000,
  })
