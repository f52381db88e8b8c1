// Signals and the terminal's job control: what a shell expects of the process that it started,
// passed on to the command in its cell, which lives in a session of its own.
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'

import type { AttachedControl } from '../../sandbox/index.js'

const { SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU } = constants.signals

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const
const ENDING: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])

export interface JobControl {
  readonly onStart: (control: AttachedControl) => void
  readonly onStopped: (signal: number) => void
  readonly end: () => void
}

export interface JobSettings {
  /** The command has a terminal, and so a session in which it can be stopped like any other. */
  readonly terminal: boolean
  /** It has the caller's keys already. */
  readonly foreground: boolean
  /** The command is asked to end. */
  readonly onEnding?: () => void
}

export const controlJob = ({ terminal, foreground, onEnding }: JobSettings): JobControl => {
  let control: AttachedControl | undefined
  let wantsTerminal = foreground
  let asked = false

  const passOn = (name: NodeJS.Signals) => {
    const number = constants.signals[name]
    // Before the command has begun there is nobody to tell; the launcher ends with this process.
    if (control === undefined) process.exit(128 + number)
    if (asked && ENDING.has(name)) control.kill()
    else control.signal(number)
    if (ENDING.has(name)) onEnding?.()
    asked ||= ENDING.has(name)
  }
  const resume = () => {
    if (wantsTerminal && inForeground()) control?.takeTerminal()
    control?.resize()
    control?.signal(SIGCONT)
  }
  /** Returns when this process continues; at once where nobody could continue it. */
  const stop = (signal: NodeJS.Signals) => {
    process.off('SIGTSTP', onStop)
    // To the whole job: a shell waits for all of its processes to stop (npx cordon …).
    process.kill(0, signal)
    process.on('SIGTSTP', onStop)
  }
  const onStop = () => {
    if (terminal) {
      // The command is asked to stop; we stop after it.
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
    // In the background the keys are somebody else's: stop, as a command without a cell would.
    if (!wantsKeys) stop('SIGTSTP')
    else if (!inForeground()) stop('SIGTTIN')
    resume()
  }
  const onResize = () => control?.resize()

  for (const name of PASSED_ON) process.on(name, passOn)
  process.on('SIGTSTP', onStop)
  // Continued after a stop that we did not make ourselves (kill -STOP), or moved to the foreground.
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

/** Whether the terminal's keys are this job's; true where there is no job control at all. */
export const inForeground = (): boolean => {
  try {
    // pid (name) state ppid pgrp session tty tpgid; the name may hold anything.
    const [, , , group, , terminal, foreground] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\)/s, '')
      .split(' ')
    return terminal === '0' || group === foreground
  } catch {
    return true
  }
}
