// Passes the input of this process on to a command that cannot have its descriptor.
import { isatty } from 'node:tty'

import type { AttachedInput } from '../sandbox/index.js'

/**
 * A terminal is not read: it is no terminal for the command, and keys that are typed ahead belong to the next program.
 * Returns how to stop.
 */
export const passInput = ({ write, taken, endInput }: AttachedInput): (() => void) => {
  if (isatty(0)) {
    endInput()
    return () => undefined
  }
  const { stdin } = process
  stdin.on('data', (bytes: Buffer) => {
    write(bytes)
    stdin.pause()
    void taken().then(() => stdin.resume())
  })
  // Input that cannot be read ends.
  stdin.once('end', endInput).once('error', endInput)
  return () => {
    stdin.destroy()
  }
}
