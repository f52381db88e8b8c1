// Ids as people type them: whole, or enough of the start or the end to name one.
import type { CordonError } from '../../errors/index.js'

import { oneLine } from './console-text.js'

const FULL_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** An unset variable of a script, or the time that all ids of today start with, must not name one. */
export const FEWEST_LETTERS = 4

interface Sought {
  /** What has the id: "call", "open question". */
  readonly what: string
  /** The command that lists them. */
  readonly listedBy: string
  readonly wrong: (problem: string, fix?: string) => CordonError
}

/** Any id of a candidate names it. The first one is returned. A whole id is taken as it is. */
export const idAmong = async (
  word: string,
  list: () => Promise<readonly (readonly string[])[]>,
  { what, listedBy, wrong }: Sought,
): Promise<string> => {
  if (FULL_ID.test(word)) return word
  if (word.length < FEWEST_LETTERS)
    throw wrong(
      `"${oneLine(word)}" is too short for the id of one ${what}`,
      `write at least ${String(FEWEST_LETTERS)} letters of it; ${listedBy} has them`,
    )
  const found = (await list()).filter((ids) => ids.some((id) => id.startsWith(word) || id.endsWith(word)))
  const [only, ...more] = found
  if (only?.[0] === undefined) throw wrong(`no ${what} has the id ${oneLine(word)}`, `${listedBy} has them`)
  if (more.length > 0)
    throw wrong(`${oneLine(word)} matches the ids of ${String(found.length)} ${what}s`, 'write more of it')
  return only[0]
}
