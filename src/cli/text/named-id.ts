// Ids as people type them: whole, or so much of the beginning or the end that one is meant.
import type { CordonError } from '../../errors/index.js'

import { oneLine } from './console-text.js'

const FULL_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const isFullId = (word: string): boolean => FULL_ID.test(word)

const FEWEST_LETTERS = 4

export interface Sought {
  /** What it is the id of: "call", "open question". */
  readonly what: string
  /** The command that lists them. */
  readonly listedBy: string
  readonly wrong: (problem: string, fix?: string) => CordonError
}

/** Of each candidate the ids that it goes by, the first of which is the one that is meant by any of them. */
export const idAmong = (
  word: string,
  candidates: readonly (readonly string[])[],
  { what, listedBy, wrong }: Sought,
): string => {
  // An unset variable of a script, or the time that all of today's ids begin with, means none of them.
  if (word.length < FEWEST_LETTERS)
    throw wrong(
      `"${oneLine(word)}" is too short for the id of one ${what}`,
      `write at least ${String(FEWEST_LETTERS)} letters of it; ${listedBy} has them`,
    )
  const found = candidates.filter((ids) => ids.some((id) => id.startsWith(word) || id.endsWith(word)))
  const [only, ...more] = found
  if (only?.[0] === undefined) throw wrong(`no ${what} has the id ${oneLine(word)}`, `${listedBy} has them`)
  if (more.length > 0)
    throw wrong(`the ids of ${String(found.length)} ${what}s are like ${oneLine(word)}`, 'write more of it')
  return only[0]
}
