// The one place that knows the operating system. Rooms ask it for facts that Linux has in /proc, and macOS has not.
import { readLink, textOfFile } from './at-path.js'

/** A process, as the system describes it to others. */
interface ProcessFacts {
  /** Differs from the start of every other process with the same id. */
  readonly start: string
  /** It has ended, and its parent has not noticed yet. */
  readonly hasEnded: boolean
}

export interface Platform {
  /** As `process.platform` spells it. */
  readonly name: string
  /** For people. */
  readonly label: string
  /** Undefined if the process is not there, or the system does not say. */
  readonly factsOf: (pid: number) => ProcessFacts | undefined
  /** The numbers of processes mean something only in their namespace. Empty if the system has one for all. */
  readonly pidNamespace: () => string
  /** Changes when the machine is started. Empty if it is not known. */
  readonly bootId: () => string
  /** A path to what this descriptor refers to, which can be opened again. Undefined if the system has none. */
  readonly pathOfDescriptor: (descriptor: number) => string | undefined
  /** Whether this process's job gets the keys of its terminal. True without job control, or if it is not known. */
  readonly isInForeground: () => boolean
}

/**
 * macOS tells these facts by system calls that Node does not have. Only the existence of a process is known there, by
 * signal 0. So a lock whose owner's number was given to another process stays held until somebody removes it.
 */
const DARWIN: Platform = {
  name: 'darwin',
  label: 'macOS',
  factsOf: () => undefined,
  pidNamespace: () => '',
  bootId: () => '',
  // A descriptor can be opened by /dev/fd, but that is the same open file, with the same flags.
  pathOfDescriptor: () => undefined,
  isInForeground: () => true,
}

const ENDED: ReadonlySet<string> = new Set(['Z', 'X', 'x'])

/** The fields after the name of the program, which may contain anything: state ppid pgrp session tty tpgid … */
const statOf = (process: number | 'self'): readonly string[] =>
  (textOfFile(`/proc/${process}/stat`) ?? '').replace(/^.*\)\s/s, '').split(' ')

const LINUX: Platform = {
  name: 'linux',
  label: 'Linux',
  factsOf: (pid) => {
    const { 0: state = '', 19: start } = statOf(pid)
    // In ticks since the boot. A zombie may stay one for ever in a container without an init.
    return start === undefined ? undefined : { start, hasEnded: ENDED.has(state) }
  },
  pidNamespace: () => /\d+/.exec(readLink('/proc/self/ns/pid') ?? '')?.[0] ?? '',
  bootId: () => textOfFile('/proc/sys/kernel/random/boot_id')?.trim() ?? '',
  pathOfDescriptor: (descriptor) => `/proc/self/fd/${descriptor}`,
  isInForeground: () => {
    const [, , group, , terminal = '0', foreground] = statOf('self')
    return terminal === '0' || group === foreground
  },
}

export const platformOf = (name: string): Platform =>
  name === 'linux' ? LINUX : name === 'darwin' ? DARWIN : { ...DARWIN, name, label: name }

export const PLATFORM: Platform = platformOf(process.platform)
