// Gaps of cells inside walls. None of them is a way out of the boundary.
import { gapsFor } from './gap.js'
import type { Gaps } from './gap.js'
import { LANDLOCK_GAPS, NATIVE_GAPS, NO_SHM, NO_SOCKET } from './native-gaps.js'

const OF_NETWORK = gapsFor(
  'the launcher inside does not use the loopback of the wall, and refuses it as if it were of the host',
  NO_SOCKET,
  [
    'a program can connect to itself over the loopback without a grant',
    'a program that resolves a granted name by a datagram finds it',
  ],
)

export const BUBBLEWRAP_GAPS: Gaps = {
  ...NATIVE_GAPS,
  ...OF_NETWORK,
  '/dev/shm can be written': {
    reason: 'bubblewrap makes a folder of its own there, whose size has no limit, so it stays closed',
    failure: NO_SHM,
  },
  'the list of processes shows only the cell': {
    reason: 'it shows the supervisor of the cell, too, which is inside the wall',
    failure: "stdout: '3\\n'",
  },
}

export const FIREJAIL_GAPS: Gaps = { ...LANDLOCK_GAPS, ...OF_NETWORK }

/** The areas that depend on this wall. Files are the same as in the `landlock` form. */
export const FIREJAIL_AREAS: ReadonlySet<string> = new Set([
  'How a call ends',
  'Private folders',
  'Network',
  'Cancelling',
  'Warm cells',
  'Closing',
  'Records',
])
