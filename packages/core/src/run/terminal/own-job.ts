// The job of this process.
import { PLATFORM } from '../../platform/index.js'

import type { Job } from './job.js'

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

export const ownJob = (): Job => {
  let onStop: () => void = () => undefined
  return {
    listen: ({ onSignal, onStop: stopped, onContinue, onResize }) => {
      onStop = stopped
      for (const name of PASSED_ON) process.on(name, onSignal)
      process.on('SIGTSTP', stopped)
      process.on('SIGCONT', onContinue)
      process.on('SIGWINCH', onResize)
      return () => {
        for (const name of PASSED_ON) process.off(name, onSignal)
        process.off('SIGTSTP', stopped)
        process.off('SIGCONT', onContinue)
        process.off('SIGWINCH', onResize)
      }
    },
    isInForeground: PLATFORM.isInForeground,
    stop: (signal) => {
      process.off('SIGTSTP', onStop)
      // All of it, because a shell waits until all of its processes stop (npx cordon …).
      process.kill(0, signal)
      process.on('SIGTSTP', onStop)
      return Promise.resolve()
    },
  }
}
