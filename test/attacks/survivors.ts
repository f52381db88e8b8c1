// Processes that are still there after a call, found by a word in their command lines that only one test uses.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

export const newMark = (): string => `cordon-mark-${String(process.pid)}-${Math.random().toString(36).slice(2, 10)}`

export const processesWith = (mark: string): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && commandLine(pid).includes(mark))

const commandLine = (pid: number): string => {
  try {
    // A process that is dead but not yet reaped has an empty command line: nobody runs there any more.
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

/** Waits until nothing with the mark runs any more; returns what still does when patience ends, after killing it. */
export const survivorsOf = async (mark: string): Promise<readonly string[]> => {
  for (let look = 0; look < 100; look += 1) {
    if (processesWith(mark).length === 0) return []
    await wait(100)
  }
  return processesWith(mark).map((pid) => {
    const line = commandLine(pid).replaceAll('\0', ' ')
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended just now.
    }
    return `${String(pid)} ${line}`
  })
}

/** Waits until something with the mark runs. */
export const untilRunning = async (mark: string): Promise<readonly number[]> => {
  for (let look = 0; look < 300; look += 1) {
    const found = processesWith(mark)
    if (found.length > 0) return found
    await wait(50)
  }
  throw new Error(`nothing with ${mark} came to life`)
}
