// What became of a server in a client's file, and how the user reads it.
import { visible, visibleWord } from 'cordon/commands'
import type { Paint } from 'cordon/commands'

import type { ClientFile } from '../clients/clients.js'

/** What became of a server. `wrapped` and `bare` say what it is, `installed` and `uninstalled` what was done. */
export interface Outcome {
  readonly client: string
  readonly scope: ClientFile['scope']
  readonly file: string
  readonly server: string
  readonly state: 'wrapped' | 'bare' | 'other' | 'installed' | 'uninstalled'
  readonly command: readonly string[] | null
  /** Of a remote server. */
  readonly url: string | null
  readonly because: string | null
}

export const DONE: Readonly<Record<Outcome['state'], string>> = {
  wrapped: 'uses Cordon',
  bare: 'does not use Cordon',
  other: 'not changed',
  installed: 'now uses Cordon',
  uninstalled: 'no longer uses Cordon',
}

export const WOULD_BE_DONE: typeof DONE = {
  ...DONE,
  installed: 'would use Cordon',
  uninstalled: 'would no longer use Cordon',
}

export const linesOf = (
  outcomes: readonly Outcome[],
  files: readonly ClientFile[],
  words: typeof DONE,
  paint: Paint,
): readonly string[] =>
  outcomes.length === 0
    ? [
        'No MCP server was found. Cordon looked in these files of clients:',
        ...files.map(({ path }) => `  ${visible(path)}`),
      ]
    : [...new Set(outcomes.map(({ file }) => file))].flatMap((path) => [
        paint('bold', visible(path)),
        ...outcomes
          .filter(({ file }) => file === path)
          .map(({ server, state, ...said }) => `  ${visibleWord(server)}: ${words[state]}${detailOf(said)}`),
      ])

const detailOf = ({ command, url, because }: Pick<Outcome, 'command' | 'url' | 'because'>): string => {
  if (because !== null) return `, because ${visible(because)}`
  const words = url === null ? (command ?? []) : [url]
  return `: ${words.map(visibleWord).join(' ')}`
}
