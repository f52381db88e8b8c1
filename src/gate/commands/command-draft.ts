import type { Word } from './shell-words.js'

/** A command of a line while it is read. */
export interface CommandDraft {
  words: Word[]
  startsAnywhere: boolean
  input: Word[]
  /** Where its last word ended: a number that stands directly before a redirection belongs to that. */
  lastEnd: number
  isLastBare: boolean
  /** An assignment or a redirection stands before its words: no reserved word can follow. */
  hasPrefix: boolean
  /** `ls &>f rm`: one shell sees `ls rm`, another `ls &` and `rm`, which begins at this word. */
  alsoFrom: number | undefined
}

export const newDraft = (): CommandDraft => ({
  words: [],
  startsAnywhere: false,
  input: [],
  lastEnd: -1,
  isLastBare: false,
  hasPrefix: false,
  alsoFrom: undefined,
})
