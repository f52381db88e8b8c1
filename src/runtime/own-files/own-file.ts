/**
 * A file or folder that Cordon itself reads or writes, and that no tool may have, whatever its policy grants.
 * docs/own-files.md lists them all.
 */
export interface OwnFile {
  /** Absolute. */
  readonly path: string
  /**
   * `withheld`: it is not there for a tool. `read-only`: a tool may read it, and never change, replace or remove it.
   */
  readonly access: 'withheld' | 'read-only'
  /** For the refusal, such as "the value of the credential token". */
  readonly what: string
  /** What to do where a grant cannot do without it. */
  readonly fix: string
  /**
   * Only names in this folder that begin so are Cordon's. Where a tool may write, all of the folder is withheld:
   * Cordon obeys names in it that do not exist yet.
   */
  readonly prefix?: string
}
