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

/** Each of the texts has one or more names, with blanks between them. */
const entriesOf =
  (scope: ProtectedName['scope']) =>
  (because: string, source: string, ...names: readonly string[]): readonly ProtectedName[] =>
    names.flatMap((each) => each.split(' ')).map((name) => ({ name, scope, object: 'any', because, source }))

export const anywhere = entriesOf('anywhere')
export const inProject = entriesOf('project')
export const inRoot = entriesOf('root')
