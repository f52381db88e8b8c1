// Starts a whole Linux in an emulator, and reads the facts that it tells on its console.
import { execFileSync, spawn } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** As Node names them. */
export type Architecture = 'arm64' | 'x64'

interface Emulator {
  readonly program: string
  readonly compiler: string
  readonly machine: string
  readonly cpu: string
  readonly console: string
}

const EMULATORS: Readonly<Record<Architecture, Emulator>> = {
  arm64: {
    program: 'qemu-system-aarch64',
    compiler: 'aarch64-linux-gnu-gcc',
    machine: 'virt',
    cpu: 'cortex-a72',
    console: 'ttyAMA0',
  },
  x64: {
    program: 'qemu-system-x86_64',
    compiler: 'x86_64-linux-gnu-gcc',
    machine: 'q35',
    // QEMU 7 returns wrong flags from CMPXCHG16B, with which Linux 6.12 does not start.
    cpu: 'max,-cx16',
    console: 'ttyS0',
  },
}

const isUsable = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => isUsable(join(folder, program), constants.X_OK))

const compilerFor = (architecture: Architecture): string =>
  architecture === process.arch ? 'cc' : EMULATORS[architecture].compiler

/** Why no machine of this architecture can be started here, or undefined. */
export const obstacleToEmulator = (architecture: Architecture): string | undefined => {
  const missing = [EMULATORS[architecture].program, compilerFor(architecture)].find((name) => !isInstalled(name))
  return missing === undefined ? undefined : `${missing} is not installed`
}

const FLAGS = ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-pthread', '-static']

/** Compiles a program that needs nothing from the machine but itself. */
export const compileFor = (architecture: Architecture, source: string, to: string): void => {
  execFileSync(compilerFor(architecture), [...FLAGS, '-o', to, source], { stdio: 'inherit' })
}

export interface Fact {
  readonly place: string
  readonly name: string
  readonly value: unknown
}

export interface Machine {
  readonly architecture: Architecture
  readonly kernel: string
  readonly initialFiles: string
  /** An image that is the first disk, and keeps its content. */
  readonly disk?: string
  /** Further words of the kernel's command line. */
  readonly words: readonly string[]
  /** After this time a machine that hangs is killed. */
  readonly patienceMs: number
}

/** /dev/kvm may be there and run no kernel, on a machine that is virtual itself. Such a processor has no such flag. */
const hasKvm = (architecture: Architecture): boolean =>
  architecture === 'x64' &&
  process.arch === 'x64' &&
  isUsable('/dev/kvm', constants.R_OK | constants.W_OK) &&
  /\b(?:vmx|svm)\b/.test(readFileSync('/proc/cpuinfo', 'utf8'))

const emulated = (architecture: Architecture): readonly string[] => {
  // Several threads only where the memory of this processor is as strictly ordered as that of the emulated one.
  const threads = architecture === 'x64' && process.arch !== 'x64' ? 'single' : 'multi'
  return ['-cpu', EMULATORS[architecture].cpu, '-accel', `tcg,thread=${threads}`]
}

const VIRTUAL = ['-cpu', 'host', '-accel', 'kvm']

/** A kernel that runs at all says something within this time. */
const SILENCE_MS = 60_000

interface Told {
  readonly facts: readonly Fact[]
  readonly noise: string
}

/** Returns the facts that were told in the machine, and everything else that it printed. */
export const runEmulator = async (machine: Machine): Promise<Told> => {
  if (hasKvm(machine.architecture)) {
    const told = await runOn(VIRTUAL, machine, SILENCE_MS)
    if (told.noise !== '') return told
  }
  return runOn(emulated(machine.architecture), machine, machine.patienceMs)
}

const runOn = async (
  processor: readonly string[],
  { architecture, kernel, initialFiles, disk, words, patienceMs }: Machine,
  silenceMs: number,
): Promise<Told> => {
  const emulator = EMULATORS[architecture]
  const child = spawn(
    emulator.program,
    [
      ...['-machine', emulator.machine, ...processor, '-smp', '2', '-m', '1024'],
      ...['-display', 'none', '-nodefaults', '-no-reboot', '-serial', 'stdio'],
      ...['-kernel', kernel, '-initrd', initialFiles],
      ...(disk === undefined ? [] : ['-drive', `file=${disk},format=raw,if=virtio,snapshot=on,cache=unsafe`]),
      ...['-append', [`console=${emulator.console}`, 'quiet', 'panic=-1', 'rdinit=/init', ...words].join(' ')],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const end = (): void => void child.kill('SIGKILL')
  const patience = setTimeout(end, patienceMs)
  const silence = setTimeout(end, silenceMs)
  const facts: Fact[] = []
  const noise: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    clearTimeout(silence)
    const at = line.indexOf('fact: {')
    if (at < 0) noise.push(line)
    else facts.push(JSON.parse(line.slice(at + 'fact: '.length)) as Fact)
  }
  for (const timer of [patience, silence]) clearTimeout(timer)
  return { facts, noise: noise.join('\n') }
}
