// The options of an installed hook, as they stand in its command.
import { shellWord, unquotedWord } from '../platform/index.js'

/** The words behind the name of the agent. Each of them is in quotes, as `quotedWord` writes them. */
export const installedWords = (command: string, agent: string): readonly string[] =>
  [...(command.split(`'hook' '${agent}'`)[1] ?? '').matchAll(/'(?<word>(?:[^']|'\\'')*)'/g)].map(({ groups }) =>
    unquotedWord(groups?.['word'] ?? ''),
  )

export const optionsText = (words: readonly string[]): string => words.map(shellWord).join(' ')

/** Each option with its value. A word that begins with `--` begins one. */
const optionsIn = (words: readonly string[]): readonly string[] =>
  words.reduce<readonly string[]>((found, word) => {
    const last = found.at(-1)
    return last === undefined || word.startsWith('--')
      ? [...found, shellWord(word)]
      : [...found.slice(0, -1), `${last} ${shellWord(word)}`]
  }, [])

/** Options of the old hook that the new one does not have. */
export const droppedOptions = (before: readonly string[], after: readonly string[]): readonly string[] => {
  const kept = new Set(optionsIn(after))
  return optionsIn(before).filter((option) => !kept.has(option))
}
