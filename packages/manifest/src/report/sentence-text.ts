import type { Finding, Sentence } from 'cordon/manifest'
import { visible } from 'cordon/commands'

/** Names in backticks, and nothing that acts on a terminal. */
export const plainSentence = (sentence: Sentence): string =>
  sentence
    .map((part) => {
      if (typeof part === 'string') return part
      return 'name' in part ? `\`${shown(part.name).replaceAll('`', '\\x60')}\`` : shown(part.value)
    })
    .join('')

const MOST_CHARACTERS = 300
/** The first half of a character that a cut divides. */
const HALF_CHARACTER = /[\uD800-\uDBFF]$/

/** Texts of a project may be long. */
export const shown = (text: string): string => {
  const seen = visible(text)
  return seen.length > MOST_CHARACTERS ? `${seen.slice(0, MOST_CHARACTERS).replace(HALF_CHARACTER, '')}…` : seen
}

/** `agent main, server github` */
export const ownerText = ({ agent, server }: Finding): string =>
  [agent === undefined ? [] : `agent ${shown(agent)}`, server === undefined ? [] : `server ${shown(server)}`]
    .flat()
    .join(', ')

/** A place in a file, `agents/support.ts:12`. */
export const placeOf = (source: string): { readonly file: string; readonly line?: number } => {
  const [, file, line] = /^(.*?):(\d+)(?::\d+)?$/.exec(shown(source)) ?? []
  return file === undefined || Number(line) < 1 ? { file: shown(source) } : { file, line: Number(line) }
}

/** For acceptances of findings that do not occur any more. */
export const UNUSED_FIX = 'Delete these from "accepted" of the manifest. The next --accept deletes them too.'
