import { programName } from './command-line.js'
import type { CommandReading } from './command-line.js'
import { pastOptions } from './launchers.js'
import type { Word } from './shell-words.js'
import { parseTextPattern } from './text-pattern.js'
import type { TextPattern } from './text-pattern.js'

type WordPattern = { readonly kind: 'word'; readonly pattern: TextPattern } | { readonly kind: 'any-words' }

/**
 * `git push **`: words with `*` and `?`, where `**` means any number of words.
 *
 * An allow matches a plain command of exactly these words. A deny or an ask matches every command of the line that
 * begins with them. A word that only the shell knows fits. Of some programs, options between the words do not count.
 */
export interface CommandPattern {
  readonly words: readonly WordPattern[]
  /** The program, if the pattern names one. */
  readonly program: string | undefined
}

type ParsedCommandPattern =
  | { readonly kind: 'pattern'; readonly pattern: CommandPattern }
  | { readonly kind: 'problem'; readonly problem: string }

const ANY_WORDS = '**'
const SHELL_SYNTAX = /[`$<>|&;()\n]/

export const parseCommandPattern = (text: string): ParsedCommandPattern => {
  if (SHELL_SYNTAX.test(text))
    return {
      kind: 'problem',
      problem: 'a command pattern is made of words; pipes, redirections and substitutions are never matched by one',
    }
  const raw = text.split(/\s+/).filter((word) => word !== '')
  if (raw.length === 0) return { kind: 'problem', problem: 'it is empty' }
  const words = raw.map((word): WordPattern =>
    word === ANY_WORDS ? { kind: 'any-words' } : { kind: 'word', pattern: parseTextPattern(unquote(word)) },
  )
  const first = words[0]
  return {
    kind: 'pattern',
    pattern: {
      words,
      program: first?.kind === 'word' && first.pattern.isLiteral ? programName(first.pattern.runs[0] ?? '') : undefined,
    },
  }
}

const unquote = (word: string): string => (/^(['"]).*\1$/.test(word) && word.length >= 2 ? word.slice(1, -1) : word)

export const allowsCommand = ({ words }: CommandPattern, { isPlain, parts }: CommandReading): boolean => {
  const [only, ...others] = parts
  return (
    isPlain &&
    only !== undefined &&
    others.length === 0 &&
    fits(words, only.words, { at: 0, isPrefix: false, byName: false })
  )
}

export const forbidsCommand = ({ words }: CommandPattern, { parts }: CommandReading): boolean =>
  parts.some((part) => {
    const starts = part.startsAnywhere ? part.words.map((_, at) => at) : [0]
    return starts.some((at) => fits(words, part.words, { at, isPrefix: true, byName: true }))
  })

interface Fit {
  readonly at: number
  /** Words may follow those of the pattern. */
  readonly isPrefix: boolean
  /**
   * Whether `/bin/rm` is `rm`, and options are skipped. For a denial it is. An allow of `rm` means the program that the
   * PATH has.
   */
  readonly byName: boolean
}

/** Moves through the pattern, and keeps the set of places among the words that it can reach. */
const fits = (patterns: readonly WordPattern[], words: readonly Word[], { at, isPrefix, byName }: Fit): boolean => {
  let reachable = new Set([at])
  const program = programName(words[at]?.text ?? '')
  patterns.forEach((wanted, index) => {
    const next = new Set<number>()
    for (const place of byName && index > 0 ? pastOptions(reachable, words, program) : reachable) {
      if (wanted.kind === 'any-words') {
        for (let end = place; end <= words.length; end += 1) next.add(end)
        continue
      }
      const word = words[place]
      if (word === undefined) continue
      if (!word.isKnown) {
        // It may become no word, one, or many. Only denials are compared with such a command.
        for (let end = place; end <= words.length; end += 1) {
          next.add(end)
          if (words[end]?.isKnown !== false) {
            if (wordFits(wanted.pattern, words[end], index === 0 && byName)) next.add(end + 1)
            break
          }
        }
      } else if (wordFits(wanted.pattern, word, index === 0 && byName)) next.add(place + 1)
    }
    reachable = next
  })
  if (isPrefix) return reachable.size > 0
  return reachable.has(words.length)
}

const wordFits = (pattern: TextPattern, word: Word | undefined, byName: boolean): boolean =>
  word !== undefined && (pattern.matches(word.text) || (byName && pattern.matches(programName(word.text))))
