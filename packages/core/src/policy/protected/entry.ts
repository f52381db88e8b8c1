import { bug } from '../../errors/index.js'

/** A protected name. `protected.ts` says which names are protected. */
export interface ProtectedName {
  /** One or more path names, joined by slashes. */
  readonly name: string
  /**
   * `anywhere`: at every depth of a write root. `project`: the same, but not among installed dependencies,
   * because packages contain such files and nobody opens them. `root`: directly in a write root.
   */
  readonly scope: 'anywhere' | 'project' | 'root'
  /** `file`: protected unless it is a directory. */
  readonly object: 'any' | 'file'
  readonly because: string
  /** The documentation of the program that runs or obeys it. */
  readonly source: string
}

/** By the first word of an entry: a scope, or `file` for files at every depth. */
const KINDS: Readonly<Record<string, Pick<ProtectedName, 'scope' | 'object'>>> = {
  anywhere: { scope: 'anywhere', object: 'any' },
  project: { scope: 'project', object: 'any' },
  root: { scope: 'root', object: 'any' },
  file: { scope: 'anywhere', object: 'file' },
}

const ENTRY = /^(?<kind>\w+) (?<names>[^:]+): (?<because>[^<]+) <(?<source>[^<>]+)>$/

/** Entries have the form `SCOPE NAME NAME: REASON <SOURCE>`. Indented lines continue one, and `#` begins a heading. */
export const readEntries = (table: string): readonly ProtectedName[] =>
  table
    .split(/\n(?! )/)
    .filter((entry) => entry !== '' && !entry.startsWith('#'))
    .flatMap((entry) => {
      const { kind = '', names = '', because = '', source = '' } = ENTRY.exec(entry.replaceAll('\n ', ''))?.groups ?? {}
      const facts = KINDS[kind] ?? bug(`an entry that is not valid: ${entry}`)
      return names.split(' ').map((name) => ({ name, ...facts, because, source }))
    })
