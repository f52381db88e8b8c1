/** One protected name; `protected.ts` has the rule by which a name becomes one. */
export interface ProtectedName {
  /** One or more path names, joined by slashes. */
  readonly name: string
  /**
   * `anywhere`: at every depth of a write root. `project`: likewise, but not among installed
   * dependencies, where packages bring such files along and nobody opens them. `root`: directly in it.
   */
  readonly scope: 'anywhere' | 'project' | 'root'
  /** `file`: protected only where it is, or would become, something else than a directory. */
  readonly object: 'any' | 'file'
  readonly because: string
  /** Where the program that runs or obeys it says so. */
  readonly source: string
}

type Entries = (because: string, source: string, ...names: readonly string[]) => readonly ProtectedName[]

const entriesOf =
  (scope: ProtectedName['scope']): Entries =>
  (because, source, ...names) =>
    names.map((name) => ({ name, scope, object: 'any', because, source }))

export const anywhere = entriesOf('anywhere')
export const inProject = entriesOf('project')
export const inRoot = entriesOf('root')
