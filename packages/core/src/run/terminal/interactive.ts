import { closeSync, constants, openSync } from 'node:fs'
import { isatty } from 'node:tty'

import { PLATFORM } from '../../platform/index.js'

/**
 * Whether a person can be asked: one of the streams is a terminal, in the foreground, and it can be opened. With pipes
 * only, another program started this process, and would not show a question.
 */
export const isInteractive = (): boolean => {
  if (![0, 1, 2].some(isatty) || !PLATFORM.isInForeground()) return false
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY))
    return true
  } catch {
    return false
  }
}
