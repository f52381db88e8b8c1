/**
 * The job of the process that asked for a run, as its shell knows it: this process, or the front that asked the local
 * host.
 */
export interface Job {
  /** Tells its signals, until the returned function is called. */
  readonly listen: (heard: JobSignals) => () => void
  /** Whether it gets the keys of its terminal. */
  readonly isInForeground: () => boolean
  /** Stops all of it. Settles when it continues, or at once if nobody could continue it. */
  readonly stop: (signal: 'SIGTSTP' | 'SIGTTIN') => Promise<void>
}

export interface JobSignals {
  /** One that a command handles itself. */
  readonly onSignal: (name: NodeJS.Signals) => void
  /** ^Z */
  readonly onStop: () => void
  /** Continued after kill -STOP, or moved to the foreground. */
  readonly onContinue: () => void
  readonly onResize: () => void
}
