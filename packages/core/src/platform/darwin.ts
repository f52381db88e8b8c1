import type { Platform } from './platform.js'

/**
 * macOS tells these facts by system calls that Node does not have. Only the existence of a process is known there, by
 * signal 0. So a lock whose owner's number was given to another process stays held until somebody removes it.
 */
export const DARWIN: Platform = {
  name: 'darwin',
  label: 'macOS',
  factsOf: () => undefined,
  pidNamespace: () => '',
  bootId: () => '',
  // A descriptor can be opened by /dev/fd, but that is the same open file, with the same flags.
  pathOfDescriptor: () => undefined,
  isInForeground: () => true,
}
