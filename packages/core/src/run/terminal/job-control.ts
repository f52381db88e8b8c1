// Signals and job control. The command has a session of its own in its cell, so Cordon passes on what the shell does
// to this process.
import { constants } from 'node:os'

import { PLATFORM } from '../../platform/index.js'
import type { AttachedControl } from '../../sandbox/index.js'

const { SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU } = constants.signals

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const
const ENDING: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])

interface JobControl {
  readonly onStart: (control: AttachedControl) => void
  readonly onStopped: (signal: number) => void
  readonly end: () => void
}

interface JobSettings {
  /** The command has a terminal, and can be stopped in its session. */
  readonly terminal: boolean
  /** It gets the keys of the caller from the start. */
  readonly foreground: boolean
  /** Called when the command is asked to end. */
  readonly onEnding?: () => void
  /** Called instead, if the command has not started. */
  readonly onEarlyEnd: (exitStatus: number) => void
}

export const controlJob = ({ terminal, foreground, onEnding, onEarlyEnd }: JobSettings): JobControl => {
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
    if (wantsTerminal && PLATFORM.isInForeground()) control?.takeTerminal()
    control?.resize()
    control?.signal(SIGCONT)
  }
  /** Returns when this process continues, or at once if nobody could continue it. */
  const stop = (signal: NodeJS.Signals) => {
    process.off('SIGTSTP', onStop)
    // The whole job, because a shell waits until all of its processes stop (npx cordon …).
    process.kill(0, signal)
    process.on('SIGTSTP', onStop)
  }
  const onStop = () => {
    if (terminal) {
      // This process stops after the command.
      control?.signal(SIGTSTP)
      return
    }
    control?.signal(SIGSTOP)
    stop('SIGTSTP')
    control?.signal(SIGCONT)
  }
  const onStopped = (signal: number) => {
    const wantsKeys = signal === SIGTTIN || signal === SIGTTOU
    wantsTerminal ||= wantsKeys
    // In the background it stops, as a command without a cell would.
    if (!wantsKeys) stop('SIGTSTP')
    else if (!PLATFORM.isInForeground()) stop('SIGTTIN')
    resume()
  }
  const onResize = () => control?.resize()

  for (const name of PASSED_ON) process.on(name, passOn)
  process.on('SIGTSTP', onStop)
  // Continued after kill -STOP, or moved to the foreground.
  process.on('SIGCONT', resume)
  process.on('SIGWINCH', onResize)
  return {
    onStart: (started) => {
      control = started
    },
    onStopped,
    end: () => {
      control = undefined
      for (const name of PASSED_ON) process.off(name, passOn)
      process.off('SIGTSTP', onStop)
      process.off('SIGCONT', resume)
      process.off('SIGWINCH', onResize)
    },
  }
}
