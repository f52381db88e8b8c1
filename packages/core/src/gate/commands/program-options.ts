// Options that stand before or between the words of a command: `git -C . push`, `gh -R a/b pr merge`. A denial of
// `git push` skips them. An allow never does.
import type { Word } from './shell-words.js'

/** The programs that rules are usually written about. Options of other programs are not skipped. */
const PROGRAMS: ReadonlySet<string> = new Set(['git', 'npm', 'pnpm', 'yarn', 'docker', 'podman', 'kubectl', 'gh'])

/**
 * The places themselves, and the places behind any options that stand there. Whether an option takes the next word as
 * its value is read both ways. A list of options would miss a denial wherever it is wrong or old.
 */
export const pastOptions = (
  places: ReadonlySet<number>,
  words: readonly Word[],
  program: string,
): ReadonlySet<number> => {
  if (!PROGRAMS.has(program)) return places
  const reachable = new Set(places)
  // A set hands out what is added while it is walked.
  for (const place of reachable) {
    const text = words[place]?.text
    if (text?.startsWith('-') !== true) continue
    reachable.add(place + 1)
    const hasNoMore = text === '--' || /^--[^=]+=/.test(text)
    if (!hasNoMore && place + 2 <= words.length) reachable.add(place + 2)
  }
  return reachable
}

/** `git -c alias.p=push p`: the words then say nothing about what runs. */
export const renamesCommands = (program: string, words: readonly Word[]): boolean =>
  program === 'git' && words.some(({ text }) => /^(?:--config-env=)?alias\./i.test(text))

/** `GIT_CONFIG_KEY_0=alias.p`: git takes settings from such variables, too. */
export const assignsAlias = ({ text, isKnown }: Word): boolean => {
  const value = /^GIT_CONFIG_(?:KEY_\d+|PARAMETERS)\+?=(?<value>[^]*)$/.exec(text)?.groups?.['value']
  return value !== undefined && (!isKnown || /alias/i.test(value))
}
