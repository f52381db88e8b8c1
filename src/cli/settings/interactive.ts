import { closeSync, constants, openSync } from 'node:fs'
import { isatty } from 'node:tty'

import { inForeground } from './job-control.js'

/**
 * Whether somebody can be asked: one of the streams is a terminal, the keys are this job's, and the terminal
 * can be talked to. Where all streams are pipes another program started this, and would not show a question.
 */
export const isInteractive = (): boolean => {
  if (![0, 1, 2].some(isatty) || !inForeground()) return false
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY))
    return true
  } catch {
    return false
  }
}
