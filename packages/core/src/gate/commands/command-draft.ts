import type { Word } from './shell-words.js'

/** A command of a line while the reader is in it. */
export interface CommandDraft {
  words: Word[]
  startsAnywhere: boolean
  input: Word[]
  /** Where its last word ended. A number directly before a redirection is part of the redirection. */
  lastEnd: number
  isLastBare: boolean
  /** An assignment or a redirection stands before its words, so no reserved word can follow. */
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
