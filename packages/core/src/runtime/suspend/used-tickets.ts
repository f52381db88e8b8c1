// Marks used tickets as files in a folder that all hosts share. Making a file that must not exist is one step for the
// kernel, so that of two hosts that show the same ticket at once only one goes on.
import { closeSync, fsyncSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { fail } from '../../errors/index.js'
import { makeFolders } from '../../platform/index.js'
import { ticketRefused } from './ticket.js'
import type { Ticket } from './ticket.js'

export interface UsedTickets {
  /** Throws where the ticket was used before, or where that cannot be found out. */
  readonly use: (ticket: Ticket) => void
}

const CLOCKS_DIFFER_MS = 24 * 60 * 60_000
const OTHERS_WRITE = 0o022
const MARK = /^(\d{1,16})-[0-9A-Za-z-]{1,64}$/

export const openUsedTickets = (folder: string, now: () => number): UsedTickets => {
  const inFolder = <Result>(act: () => Result): Result => {
    try {
      return act()
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
      throw fail('tickets-unwritable', { path: folder, problem: code }, cause)
    }
  }
  inFolder(() => {
    makeFolders(folder, 0o700)
  })
  // Whoever removes a mark makes its ticket good again.
  const { mode, uid } = inFolder(() => statSync(folder))
  if ((mode & OTHERS_WRITE) !== 0 || (uid !== 0 && uid !== process.geteuid?.()))
    throw fail('tickets-unsafe', {
      path: folder,
      problem: (mode & OTHERS_WRITE) === 0 ? 'belongs to another user' : 'can be written by other users',
    })
  inFolder(() => {
    // An expired ticket is refused for that, so its mark is not needed any more. Clocks of hosts differ.
    for (const name of readdirSync(folder)) {
      const [, expiresAt] = MARK.exec(name) ?? []
      if (expiresAt !== undefined && Number(expiresAt) + CLOCKS_DIFFER_MS <= now())
        rmSync(join(folder, name), { force: true })
    }
  })
  return {
    use: ({ id, expiresAt }) => {
      const isFirst = inFolder(() => mark(join(folder, `${String(expiresAt)}-${id}`)))
      if (!isFirst) throw ticketRefused('was used before')
      // The mark has to outlive a crash of this host: the call runs next.
      inFolder(() => {
        const held = openSync(folder, 'r')
        try {
          fsyncSync(held)
        } finally {
          closeSync(held)
        }
      })
    },
  }
}

const mark = (path: string): boolean => {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
