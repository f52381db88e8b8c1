// What a run does to the process that asked for it: this one, or the front that asked the local host.
import { openPlace } from './run-place.js'
import type { OpenPlace } from './run-place.js'
import type { Job } from './terminal/job.js'
import { isInteractive } from './terminal/interactive.js'
import { ownJob } from './terminal/own-job.js'

export interface RunSeat {
  /** Whether a person can be asked at its terminal. */
  readonly isInteractive: () => boolean
  readonly openPlace: OpenPlace
  readonly job: Job
  /** Ends before the command began, because of a signal. */
  readonly exit: (status: number) => void
}

export const ownSeat = (): RunSeat => ({
  isInteractive,
  openPlace,
  job: ownJob(),
  exit: (status) => process.exit(status),
})
