// Files that curl and wget send or write, by their options. Used for hints only.
import { basename } from 'node:path'

const PROGRAMS: ReadonlySet<string> = new Set(['curl', 'wget'])

export const isTransfer = (argv: readonly string[]): boolean => PROGRAMS.has(basename(argv[0] ?? ''))

/** `@file`, `field=@file`, `field=<file`: a file to send. */
export const withoutMark = (word: string): string =>
  /^(?:[\w.-]+=)?[@<](?<file>[^@<].*)$/s.exec(word)?.groups?.['file'] ?? word

/** Stands for a file in the working directory. */
const HERE = './download'

interface Spelling {
  /** The next word is a file. */
  readonly next: RegExp
  readonly attached: RegExp
  /** The URL names the file. */
  readonly named: RegExp | undefined
}

const SPELLINGS: Readonly<Record<string, Spelling>> = {
  curl: {
    next: /^(?:--output|--dump-header|--cookie-jar|-[a-zA-Z]*[oDc])$/,
    attached: /^(?:--output|--dump-header|--cookie-jar)=(.+)$/s,
    named: /^(?:--remote-name(?:-all)?|-[a-zA-NP-Z]*O[a-zA-Z]*)$/,
  },
  wget: { next: /^(?:--output-document|-[a-zA-Z]*O)$/, attached: /^--output-document=(.+)$/s, named: undefined },
}

/** The files to write, as typed. */
export const outputsOf = (argv: readonly string[]): readonly string[] => {
  const program = basename(argv[0] ?? '')
  const spelling = SPELLINGS[program]
  if (spelling === undefined) return []
  const files = argv.flatMap((word, at) => {
    if (at === 0) return []
    if (spelling.next.test(word)) return argv[at + 1] ?? []
    return spelling.attached.exec(word)?.[1] ?? (spelling.named?.test(word) === true ? HERE : [])
  })
  return (program === 'wget' && files.length === 0 ? [HERE] : files).filter(
    (file) => file !== '-' && !/^\/(?:dev|proc|tmp)\//.test(file),
  )
}
