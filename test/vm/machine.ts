// A whole Linux in an emulator, for features that this machine's kernel lacks or must not be asked for. Its kernel
// comes from the distribution (scripts/vm-kernel.mjs). Its files are this machine's node, some programs and this
// checkout.
import { execFileSync, spawn } from 'node:child_process'
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { createArchive } from './cpio.js'

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')
const GUEST = fileURLToPath(new URL('guest/', import.meta.url))
const KERNEL = join(CHECKOUT, 'build', 'vm', 'vmlinuz')

const EMULATORS: Readonly<
  Record<
    string,
    { readonly program: string; readonly machine: readonly string[]; readonly cpu: string; readonly console: string }
  >
> = {
  arm64: { program: 'qemu-system-aarch64', machine: ['-machine', 'virt'], cpu: 'cortex-a72', console: 'ttyAMA0' },
  x64: { program: 'qemu-system-x86_64', machine: ['-machine', 'q35'], cpu: 'max', console: 'ttyS0' },
}

const isUsable = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Why no machine can be started here, or undefined. */
export const obstacleToMachine = (): string | undefined => {
  const emulator = EMULATORS[process.arch]
  if (emulator === undefined) return `no emulator is known for ${process.arch}`
  if (
    !(process.env['PATH'] ?? '')
      .split(delimiter)
      .some((folder) => isUsable(join(folder, emulator.program), constants.X_OK))
  )
    return `${emulator.program} is not installed`
  return existsSync(KERNEL) ? undefined : `there is no kernel at ${KERNEL}; node scripts/vm-kernel.mjs fetches one`
}

const PROGRAMS = ['/bin/sh', '/bin/echo', '/bin/cat', '/bin/sleep', '/bin/ls', '/bin/mkdir', '/usr/bin/setsid']
const MOUNT_POINTS = ['/new', '/dev', '/proc', '/sys', '/tmp', '/var/tmp', '/root', '/run', '/etc', '/usr/share']

const compile = (source: string, to: string): void => {
  execFileSync('cc', ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-pthread', '-static', '-o', to, source], {
    stdio: 'inherit',
  })
}

/** The files of the machine, with these attack programs in /programs. */
const packFiles = (folder: string, attackPrograms: readonly string[]): string => {
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
  for (const name of ['dist', 'bin', 'node_modules/yaml']) archive.tree(join(CHECKOUT, name), `/cordon/${name}`)
  for (const name of ['package.json', 'build/cordon-cell']) archive.file(join(CHECKOUT, name), `/cordon/${name}`)
  archive.tree(GUEST, '/guest')
  for (const name of attackPrograms) {
    compile(join(CHECKOUT, 'test', 'attacks', 'programs', `${name}.c`), join(folder, name))
    archive.file(join(folder, name), `/programs/${name}`)
  }
  compile(join(GUEST, 'init.c'), join(folder, 'init'))
  archive.file(join(folder, 'init'), '/init')
  const file = join(folder, 'files.cpio')
  writeFileSync(file, archive.bytes())
  return file
}

export interface Fact {
  readonly place: string
  readonly name: string
  readonly value: unknown
}

/** Starts the machine, and returns the facts that were told in it, and everything else that it printed. */
export const runMachine = async (
  folder: string,
  attackPrograms: readonly string[],
): Promise<{ readonly facts: readonly Fact[]; readonly noise: string }> => {
  const emulator = EMULATORS[process.arch]
  if (emulator === undefined) throw new Error(obstacleToMachine())
  const child = spawn(
    emulator.program,
    [
      // Emulated even where /dev/kvm is there: on a machine that is virtual itself it may start a guest that never
      // runs.
      ...emulator.machine,
      '-accel',
      'tcg,thread=multi',
      '-cpu',
      emulator.cpu,
      '-smp',
      '2',
      '-m',
      '1024',
      '-display',
      'none',
      '-nodefaults',
      '-no-reboot',
      '-serial',
      'stdio',
      '-kernel',
      KERNEL,
      '-initrd',
      packFiles(folder, attackPrograms),
      '-append',
      `console=${emulator.console} quiet panic=-1 rdinit=/init lsm=landlock`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const patience = setTimeout(() => child.kill('SIGKILL'), 420_000)
  const facts: Fact[] = []
  const noise: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const at = line.indexOf('fact: {')
    if (at < 0) noise.push(line)
    else facts.push(JSON.parse(line.slice(at + 'fact: '.length)) as Fact)
  }
  clearTimeout(patience)
  return { facts, noise: noise.join('\n') }
}
