// What a run does to the process that asked for it: this one, or the front that asked the local host.
import { prepareTyped } from './prepare-typed.js'
import type { PrepareTyped } from './prepare-typed.js'
import { openRunLog } from './record.js'
import type { OpenRunLog } from './record.js'
import type { PreparedRun } from './run-gate.js'
import { openPlace } from './run-place.js'
import type { OpenPlace } from './run-place.js'
import type { Job } from './terminal/job.js'
import { isInteractive } from './terminal/interactive.js'
import { ownJob } from './terminal/own-job.js'

export interface RunSeat {
  /** Whether a person can be asked at its terminal. */
  readonly isInteractive: () => boolean
  readonly prepare: PrepareTyped
  /** Throws `NotServed`, before anything is recorded, for a run that needs a process of its own. */
  readonly accept: (prepared: PreparedRun) => Promise<void>
  readonly openPlace: OpenPlace
  readonly openLog: OpenRunLog
  readonly job: Job
  /** Ends before the command began, because of a signal. */
  readonly exit: (status: number) => void
}

/** The local host cannot do it, and another process can. The message says why. */
export class NotServed extends Error {}

export const ownSeat = (): RunSeat => ({
  isInteractive,
  prepare: prepareTyped,
  accept: () => Promise.resolve(),
  openPlace,
  openLog: openRunLog,
  job: ownJob(),
  exit: (status) => process.exit(status),
})
