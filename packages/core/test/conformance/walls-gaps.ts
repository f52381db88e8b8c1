// Gaps of cells inside walls. None of them is a way out of the boundary.
import { LANDLOCK_GAPS, NATIVE_GAPS } from './native-gaps.js'

const LOOPBACK = 'the launcher inside does not use the loopback of the wall, and refuses it as if it were of the host'

const OF_NETWORK = {
  'a program can connect to itself over the loopback without a grant': LOOPBACK,
  'a program that resolves a granted name by a datagram finds it': LOOPBACK,
}

export const BUBBLEWRAP_GAPS: Readonly<Record<string, string>> = {
  ...NATIVE_GAPS,
  ...OF_NETWORK,
  '/dev/shm can be written': 'bubblewrap makes a folder of its own there, whose size has no limit, so it stays closed',
  'the list of processes shows only the cell': 'it shows the supervisor of the cell, too, which is inside the wall',
}

export const FIREJAIL_GAPS: Readonly<Record<string, string>> = { ...LANDLOCK_GAPS, ...OF_NETWORK }

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
