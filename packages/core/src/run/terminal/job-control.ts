// Signals and job control. The command has a session of its own in its cell, so Cordon passes on what the shell does
// to the job that asked for it.
import { constants } from 'node:os'

import type { AttachedControl } from '../../sandbox/index.js'

import type { Job } from './job.js'

const { SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU } = constants.signals

const ENDING: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])

interface JobControl {
  readonly onStart: (control: AttachedControl) => void
  readonly onStopped: (signal: number) => void
  readonly end: () => void
}

interface JobSettings {
  readonly job: Job
  /** The command has a terminal, and can be stopped in its session. */
  readonly terminal: boolean
  /** It gets the keys of the caller from the start. */
  readonly foreground: boolean
  /** Called when the command is asked to end. */
  readonly onEnding?: () => void
  /** Called instead, if the command has not started. */
  readonly onEarlyEnd: (exitStatus: number) => void
}

export const controlJob = ({ job, terminal, foreground, onEnding, onEarlyEnd }: JobSettings): JobControl => {
  let control: AttachedControl | undefined
  let wantsTerminal = foreground
  let asked = false

  const passOn = (name: NodeJS.Signals) => {
    const number = constants.signals[name]
    if (control === undefined) {
      onEarlyEnd(128 + number)
      return
    }
    if (asked && ENDING.has(name)) control.kill()
    else control.signal(number)
    if (ENDING.has(name)) onEnding?.()
    asked ||= ENDING.has(name)
  }
  const resume = () => {
    if (wantsTerminal && job.isInForeground()) control?.takeTerminal()
    control?.resize()
    control?.signal(SIGCONT)
  }
  const onStop = async () => {
    if (terminal) {
      // The job stops after the command.
      control?.signal(SIGTSTP)
      return
    }
    control?.signal(SIGSTOP)
    await job.stop('SIGTSTP')
    control?.signal(SIGCONT)
  }
  const onStopped = async (signal: number) => {
    const wantsKeys = signal === SIGTTIN || signal === SIGTTOU
    wantsTerminal ||= wantsKeys
    // In the background it stops, as a command without a cell would.
    if (!wantsKeys) await job.stop('SIGTSTP')
    else if (!job.isInForeground()) await job.stop('SIGTTIN')
    resume()
  }
  const unlisten = job.listen({
    onSignal: passOn,
    onStop: () => void onStop(),
    onContinue: resume,
    onResize: () => control?.resize(),
  })
  return {
    onStart: (started) => {
      control = started
    },
    onStopped: (signal) => void onStopped(signal),
    end: () => {
      control = undefined
      unlisten()
    },
  }
}
