// One command of a line: while the reader is in it, and when it has ended.
import type { Word } from './shell-words.js'

export interface CommandPart {
  readonly words: readonly Word[]
  /** The command may start at any of its words. */
  readonly startsAnywhere: boolean
  /** Texts of its standard input: here-documents and here-strings. */
  readonly input?: readonly Word[]
}

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

/** The commands that it is. Their input may follow, because a here-document begins on the next line. */
export const partsOf = (draft: CommandDraft): readonly CommandPart[] => {
  const { words, startsAnywhere, input, alsoFrom = 0 } = draft
  if (words.length === 0) return []
  const whole = { words, startsAnywhere, input }
  return alsoFrom > 0 && alsoFrom < words.length ? [whole, { ...whole, words: words.slice(alsoFrom) }] : [whole]
}
