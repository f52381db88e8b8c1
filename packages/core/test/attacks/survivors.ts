// Finds processes that are left after a call, by a word in their command lines that only one test uses.
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

/** One look can miss a process that keeps moving to a new one; many in a row do not. */
const isGone = async (mark: string): Promise<boolean> => {
  for (let look = 0; look < 12; look += 1) {
    if (processesWith(mark).length > 0) return false
    await wait(3)
  }
  return true
}

/** Waits until nothing with the mark runs any more; returns what still does when patience ends, after killing it. */
export const survivorsOf = async (mark: string): Promise<readonly string[]> => {
  for (let round = 0; round < 100; round += 1) {
    if (await isGone(mark)) return []
    await wait(100)
  }
  const names = processesWith(mark).map((pid) => `${String(pid)} ${commandLine(pid).replaceAll('\0', ' ')}`)
  await catchAll(mark)
  return names.length > 0 ? names : ['one that keeps moving']
}

const groupOf = (pid: number | 'self'): number | undefined => {
  try {
    // After the name of the program, which may have anything in it: state, parent, group.
    return Number(
      readFileSync(`/proc/${String(pid)}/stat`, 'latin1')
        .replace(/^.*\)/s, '')
        .trim()
        .split(' ')[2],
    )
  } catch {
    return undefined
  }
}

/**
 * Kills what a test left on purpose, or what should not be there. By its group where that is not ours: a signal to a
 * group misses nobody who forks meanwhile, and a process that only lives for milliseconds is gone before a listing of
 * all is read.
 */
export const catchAll = async (mark: string): Promise<void> => {
  const own = groupOf('self')
  const groups = new Set<number>()
  for (let round = 0; round < 500 && !(await isGone(mark)); round += 1) {
    const found = processesWith(mark)
    for (const group of found.map(groupOf)) if (group !== undefined && group > 1 && group !== own) groups.add(group)
    for (const target of [...[...groups].map((group) => -group), ...found]) {
      try {
        process.kill(target, 'SIGKILL')
      } catch {
        // It ended just now.
      }
    }
  }
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
