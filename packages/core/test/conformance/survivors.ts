// Finds processes that are left after a call, by a word in their command lines that only one test uses.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

let marks = 0

export const newMark = (): string => {
  marks += 1
  return `cnf-mark-${String(process.pid)}-${String(marks)}-`
}

const processesWith = (mark: string): readonly string[] =>
  readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && name !== String(process.pid) && commandLine(name).includes(mark),
  )

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

/** What still runs when patience ends; mostly the last of them is just about to go. */
export const survivorsOf = async (mark: string): Promise<readonly string[]> => {
  for (let look = 0; look < 200 && processesWith(mark).length > 0; look += 1) await wait(20)
  return processesWith(mark)
}
