// A machine for features that this machine's kernel lacks or must not be asked for. Its kernel comes from the
// distribution (scripts/tests/vm-kernel.mjs). Its files are this machine's node, some programs and this checkout.
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createArchive } from './cpio.js'
import { compileFor, obstacleToEmulator, runEmulator } from './emulator.js'
import type { Architecture, Fact } from './emulator.js'

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')
const GUEST = fileURLToPath(new URL('guest/', import.meta.url))
const KERNEL = join(CHECKOUT, 'build', 'vm', 'vmlinuz')

const ofThisMachine = (): Architecture | undefined =>
  process.arch === 'arm64' || process.arch === 'x64' ? process.arch : undefined

/** Why no machine can be started here, or undefined. */
export const obstacleToMachine = (): string | undefined => {
  const architecture = ofThisMachine()
  if (architecture === undefined) return `no emulator is known for ${process.arch}`
  if (!existsSync(KERNEL)) return `there is no kernel at ${KERNEL}; node scripts/tests/vm-kernel.mjs fetches one`
  return obstacleToEmulator(architecture)
}

const PROGRAMS = ['/bin/sh', '/bin/echo', '/bin/cat', '/bin/sleep', '/bin/ls', '/bin/mkdir', '/usr/bin/setsid']
const MOUNT_POINTS = ['/new', '/dev', '/proc', '/sys', '/tmp', '/var/tmp', '/root', '/run', '/etc', '/usr/share']

/** The files of the machine, with these attack programs in /programs. */
const packFiles = (architecture: Architecture, folder: string, attackPrograms: readonly string[]): string => {
  const archive = createArchive()
  for (const path of ['/bin', '/sbin', '/lib', '/lib64']) archive.sameLink(path)
  for (const path of MOUNT_POINTS) archive.folder(path)
  archive.text('/etc/passwd', 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n')
  for (const program of [process.execPath, ...PROGRAMS]) {
    if (program !== process.execPath) archive.file(program)
    for (const [, library = ''] of execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(/g))
      archive.file(library)
  }
  archive.file(process.execPath, '/node')
  for (const name of ['dist', 'bin']) archive.tree(join(CHECKOUT, name), `/cordon/${name}`)
  for (const name of ['package.json', 'build/cordon-cell']) archive.file(join(CHECKOUT, name), `/cordon/${name}`)
  archive.tree(GUEST, '/guest')
  for (const name of attackPrograms) {
    compileFor(architecture, join(CHECKOUT, 'test', 'attacks', 'programs', `${name}.c`), join(folder, name))
    archive.file(join(folder, name), `/programs/${name}`)
  }
  compileFor(architecture, join(GUEST, 'init.c'), join(folder, 'init'))
  archive.file(join(folder, 'init'), '/init')
  const file = join(folder, 'files.cpio')
  writeFileSync(file, archive.bytes())
  return file
}

/** Starts the machine, and returns the facts that were told in it, and everything else that it printed. */
export const runMachine = (
  folder: string,
  attackPrograms: readonly string[],
): Promise<{ readonly facts: readonly Fact[]; readonly noise: string }> => {
  const architecture = ofThisMachine()
  if (architecture === undefined) throw new Error(obstacleToMachine())
  return runEmulator({
    architecture,
    kernel: KERNEL,
    initialFiles: packFiles(architecture, folder, attackPrograms),
    words: ['lsm=landlock'],
    patienceMs: 1_200_000,
  })
}
